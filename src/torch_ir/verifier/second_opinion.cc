#include "torch_ir/verifier/second_opinion.h"

#include <ATen/Dispatch.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/isnan.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/verifier/float64_graph.h"
#include "torch_ir/verifier/float64_run.h"
#include "torch_ir/verifier/tolerance.h"

namespace torch_ir {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// In all that follows integers are numbers too: an index that is another one is an error.
at::Tensor as_double(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().cpu();
  return plain.to(c10::isComplexType(plain.scalar_type()) ? c10::kComplexDouble : c10::kDouble);
}

// The float64 side, and what of it is the same for executor and eager.
struct Yardstick {
  at::Tensor value;
  at::Tensor is_finite;
  double scale;
};

double greatest(const at::Tensor& values) {
  return values.numel() == 0 ? 0 : values.max().item<double>();
}

Yardstick make_yardstick(const at::Tensor& float64) {
  const at::Tensor value = as_double(float64);
  const at::Tensor is_finite = at::isfinite(value);
  const double scale = greatest(value.abs().masked_select(is_finite));
  return {value, is_finite, scale == 0 ? 1 : scale};
}

struct Distance {
  double error;
  int64_t non_finite;
};

Distance distance(const at::Tensor& tensor, const Yardstick& yardstick) {
  const at::Tensor value = as_double(tensor);
  const at::Tensor is_finite = at::isfinite(value);
  const at::Tensor both = is_finite.logical_and(yardstick.is_finite);
  const at::Tensor differences = (value - yardstick.value).abs().masked_select(both);
  const at::Tensor is_same =
      (value == yardstick.value)
          .logical_or(at::isnan(value).logical_and(at::isnan(yardstick.value)));
  return {greatest(differences) / yardstick.scale,
          both.logical_or(is_same).logical_not().sum().item<int64_t>()};
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
  constexpr double kAsGood = 2;
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
  if (opinion.factor > kAsGood) {
    return fmt::format("worse than eager by a factor of {:.3g}", opinion.factor);
  }
  if (opinion.factor * kAsGood >= 1) return "as good as eager";
  return opinion.factor == 0 ? "eager is the inaccurate one"
                             : fmt::format("eager is the inaccurate one, by a factor of {:.3g}",
                                           1 / opinion.factor);
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
    const Yardstick yardstick = make_yardstick(float64);
    const Distance executor_distance = distance(executor, yardstick);
    const Distance eager_distance = distance(eager, yardstick);
    SecondOpinion opinion{.executor_error = executor_distance.error,
                          .eager_error = eager_distance.error,
                          .executor_non_finite = executor_distance.non_finite,
                          .eager_non_finite = eager_distance.non_finite};
    opinion.factor = factor_of(opinion, rounding_error(eager.scalar_type(), yardstick.scale));
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
