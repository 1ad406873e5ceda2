#include "torch_ir/verifier/second_opinion.h"

#include <ATen/Dispatch.h>
#include <c10/util/complex.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/verifier/float64_graph.h"
#include "torch_ir/verifier/float64_run.h"
#include "torch_ir/verifier/tensor_blocks.h"
#include "torch_ir/verifier/tolerance.h"

namespace torch_ir {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// How far one side is from float64, as blocks of elements are added.
struct Distance {
  double greatest = 0;
  int64_t non_finite = 0;

  bool operator==(const Distance&) const = default;
};

template <class Number>
bool is_number(const Number& number) {
  return std::isfinite(std::abs(number));
}

// NaN is NaN, whatever its bits; of complex numbers that are not finite all are alike.
bool are_alike(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }
bool are_alike(const c10::complex<double>& /*a*/, const c10::complex<double>& /*b*/) {
  return true;
}

template <class Number>
void add_block(const Number* side, const Number* float64, int64_t size, Distance& distance) {
  for (int64_t i = 0; i < size; ++i) {
    const bool is_comparable = is_number(side[i]) && is_number(float64[i]);
    if (is_comparable) {
      const double difference = std::abs(side[i] - float64[i]);
      distance.greatest = std::max(distance.greatest, difference);
    } else if (is_number(side[i]) != is_number(float64[i]) || !are_alike(side[i], float64[i])) {
      ++distance.non_finite;
    }
  }
}

struct Distances {
  Distance executor;
  Distance eager;
  double scale = 0;
};

bool have_same_bytes(const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() != b.scalar_type()) return false;
  return a.numel() == 0 || std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
}

// Integers are numbers too: an index that is another one is an error. Two sides of equal bytes, as
// they mostly are, are read once.
template <class Number>
Distances measure(c10::ArrayRef<at::Tensor> tensors, c10::ScalarType dtype) {
  Distances all;
  for_each_block(tensors, [&](c10::ArrayRef<at::Tensor> blocks, int64_t /*first*/) {
    const int64_t size = blocks[2].numel();
    const at::Tensor wide = blocks[2].to(dtype);
    const auto* float64 = wide.const_data_ptr<Number>();
    for (int64_t i = 0; i < size; ++i) {
      if (is_number(float64[i])) all.scale = std::max(all.scale, std::abs(float64[i]));
    }
    const Distance executor_before = all.executor;
    add_block(blocks[0].to(dtype).template const_data_ptr<Number>(), float64, size, all.executor);
    const bool are_equal = executor_before == all.eager && have_same_bytes(blocks[0], blocks[1]);
    if (are_equal) {
      all.eager = all.executor;
    } else {
      add_block(blocks[1].to(dtype).template const_data_ptr<Number>(), float64, size, all.eager);
    }
    return true;
  });
  if (all.scale == 0) all.scale = 1;
  return all;
}

// The greatest error of a tensor that was rounded to its dtype and is exact otherwise: half a unit
// in the last place, which for the smallest numbers is half of the least one.
double rounding_error(c10::ScalarType dtype, double scale) {
  if (compares_exactly(dtype)) return 0;
  return AT_DISPATCH_FLOATING_TYPES_AND4(
      at::kHalf, at::kBFloat16, at::kFloat8_e4m3fn, at::kFloat8_e5m2, c10::toRealValueType(dtype),
      "rounding_error", [&] {
        const auto epsilon = static_cast<double>(std::numeric_limits<scalar_t>::epsilon());
        const auto least = static_cast<double>(std::numeric_limits<scalar_t>::denorm_min());
        return std::max(epsilon, least / scale) / 2;
      });
}

double factor_of(const SecondOpinion& opinion, double rounding) {
  if (opinion.executor_non_finite != opinion.eager_non_finite) {
    return opinion.executor_non_finite > opinion.eager_non_finite ? kInfinite : 0;
  }
  const double executor = std::max(opinion.executor_error, rounding);
  const double eager = std::max(opinion.eager_error, rounding);
  if (executor == eager) return 1;
  return eager == 0 ? kInfinite : executor / eager;
}

SecondOpinion no_opinion(std::string reason) {
  SecondOpinion opinion;
  opinion.reason = std::move(reason);
  return opinion;
}

}  // namespace

std::string opinion_text(const SecondOpinion& opinion) {
  if (!opinion.reason.empty()) return "no second opinion: " + opinion.reason;
  if (opinion.executor_non_finite > opinion.eager_non_finite) {
    return fmt::format(
        "worse than eager: {} element(s) are NaN or infinite otherwise than in "
        "float64, of eager {}",
        opinion.executor_non_finite, opinion.eager_non_finite);
  }
  if (opinion.executor_non_finite < opinion.eager_non_finite) {
    return fmt::format(
        "eager is the inaccurate one: {} of its element(s) are NaN or infinite "
        "otherwise than in float64",
        opinion.eager_non_finite);
  }
  if (std::isinf(opinion.factor)) return "worse than eager, which is exact";
  if (opinion.factor > kAsGoodAsEager) {
    return fmt::format("worse than eager by a factor of {:.3g}", opinion.factor);
  }
  if (opinion.factor * kAsGoodAsEager >= 1) return "as good as eager";
  return opinion.factor == 0 ? "eager is the inaccurate one"
                             : fmt::format("eager is the inaccurate one, by a factor of {:.3g}",
                                           1 / opinion.factor);
}

std::string opinion_problem(const SecondOpinion& opinion, double error_factor) {
  if (opinion.reason.empty() && opinion.factor <= error_factor) return "";
  std::string text = opinion_text(opinion);
  if (opinion.reason.empty()) text += fmt::format(", where {} is the most", error_factor);
  return text;
}

SecondOpinion second_opinion(const at::Tensor& executor, const at::Tensor& eager,
                             const at::Tensor& float64) {
  try {
    if (!executor.defined() || !eager.defined() || !float64.defined()) {
      return no_opinion("there is no tensor to compare");
    }
    for (const auto& [who, tensor] : {std::pair("the executor", &executor), {"eager", &eager}}) {
      if (tensor->sizes() == float64.sizes()) continue;
      return no_opinion(fmt::format("{} has shape {}, in float64 it is {}", who,
                                    shape_list_text(tensor->sizes()),
                                    shape_list_text(float64.sizes())));
    }
    const at::Tensor tensors[] = {strided(executor.detach()), strided(eager.detach()),
                                  strided(float64.detach())};
    const bool is_complex = executor.is_complex() || eager.is_complex() || float64.is_complex();
    const Distances distances = is_complex
                                    ? measure<c10::complex<double>>(tensors, c10::kComplexDouble)
                                    : measure<double>(tensors, c10::kDouble);
    SecondOpinion opinion{.executor_error = distances.executor.greatest / distances.scale,
                          .eager_error = distances.eager.greatest / distances.scale,
                          .executor_non_finite = distances.executor.non_finite,
                          .eager_non_finite = distances.eager.non_finite};
    opinion.factor = factor_of(opinion, rounding_error(eager.scalar_type(), distances.scale));
    return opinion;
  } catch (const std::exception& error) {
    return no_opinion(message_text(error));
  }
}

std::vector<SecondOpinion> second_opinions(const IR& ir, const StateDict& weights,
                                           const std::vector<at::Tensor>& inputs,
                                           const std::vector<at::Tensor>& executor,
                                           const std::vector<at::Tensor>& eager) {
  Float64Run run(ir, weights, inputs);
  const std::vector<at::Tensor> float64 = run.outputs();
  const auto at_or_undefined = [](const std::vector<at::Tensor>& tensors, size_t i) {
    return i < tensors.size() ? tensors[i] : at::Tensor();
  };
  std::vector<SecondOpinion> opinions;
  for (size_t i = 0; i < ir.graph_outputs.size(); ++i) {
    std::string doubt = run.doubt(ir.graph_outputs[i].name);
    opinions.push_back(doubt.empty()
                           ? second_opinion(at_or_undefined(executor, i), at_or_undefined(eager, i),
                                            at_or_undefined(float64, i))
                           : no_opinion(std::move(doubt)));
  }
  return opinions;
}

}  // namespace torch_ir
