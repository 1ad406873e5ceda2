#include "torch_ir/operators/argument_values.h"

#include <ATen/ops/result_type.h>
#include <c10/util/Exception.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "torch_ir/operators/operator_facts.h"

namespace torch_ir {
namespace {

void check_range(const char* name, const at::Tensor& tensor, int64_t low, int64_t end) {
  const at::Tensor values = tensor.to(at::kLong).contiguous();
  const auto* const begin = values.const_data_ptr<int64_t>();
  const auto* const last = begin + values.numel();
  const auto* const wrong =
      std::find_if(begin, last, [&](int64_t value) { return value < low || value >= end; });
  TORCH_CHECK(wrong == last, name, " has ", *wrong, " at ", wrong - begin,
              ", but should be at least ", low, " and less than ", end);
}

void check_bags(const NamedArguments& arguments) {
  check_range("offsets", arguments.tensor("offsets"), 0, arguments.tensor("indices").numel() + 1);
}

at::Tensor first_of(const at::Tensor& tensor, int64_t count) {
  return tensor.narrow(-1, 0, std::clamp<int64_t>(count, 0, tensor.size(-1)));
}

// Checks only the part of `targets` that is read: the rest may be anything.
void check_targets(const NamedArguments& arguments) {
  const at::Tensor targets = arguments.tensor("targets");
  const int64_t classes = arguments.tensor("log_probs").size(-1);
  const std::vector<int64_t> lengths = arguments.numbers("target_lengths");
  if (targets.dim() < 2) {
    int64_t read = 0;
    for (const int64_t length : lengths) {
      read += std::clamp<int64_t>(length, 0, targets.numel() - read);
    }
    check_range("targets", first_of(targets.reshape(-1), read), 0, classes);
    return;
  }
  const int64_t rows = std::min(targets.size(0), static_cast<int64_t>(lengths.size()));
  for (int64_t i = 0; i < rows; ++i) {
    check_range("targets", first_of(targets[i], lengths[static_cast<size_t>(i)]), 0, classes);
  }
}

template <int64_t dims>
void check_maxima(const NamedArguments& arguments) {
  const at::IntArrayRef sizes = arguments.tensor("self").sizes();
  TORCH_CHECK(sizes.size() >= dims, "self should have at least ", dims, " dimensions");
  check_range("indices", arguments.tensor("indices"), 0,
              c10::multiply_integers(sizes.slice(sizes.size() - dims)));
}

void check_segments(const NamedArguments& arguments) {
  TORCH_CHECK(!arguments.flag("unsafe"),
              "unsafe must be false; otherwise the lengths are not checked");
  if (!arguments.has("offsets")) return;
  const at::Tensor data = arguments.tensor("data");
  check_range("offsets", arguments.tensor("offsets"), 0, data.size(arguments.number("axis")) + 1);
}

// Batch sizes must not grow from step to step, nor exceed the sequences.
void check_batch_sizes(const NamedArguments& arguments) {
  const std::vector<int64_t> sizes = arguments.numbers("batch_sizes");
  const int64_t rows = arguments.tensor("data").size(0);
  TORCH_CHECK(!sizes.empty() && std::ranges::is_sorted(sizes, std::ranges::greater()) &&
                  sizes.back() > 0 && sizes.front() <= rows,
              "batch_sizes should be descending, from at most ", rows, " to at least 1");
}

// The indices are counted only to scale the gradient.
void check_counted_indices(const NamedArguments& arguments) {
  if (!arguments.flag("scale_grad_by_freq")) return;
  check_range("indices", arguments.tensor("indices"), 0, arguments.number("num_weights"));
}

// Pivots of a lower triangle, as LAPACK's sytrf leaves them: rows counted from 1. A negative one
// stands twice, for a block of two rows.
void check_ldl_pivots(const NamedArguments& arguments) {
  const at::Tensor pivots = arguments.tensor("pivots").to(at::kLong).contiguous();
  const auto* const values = pivots.const_data_ptr<int64_t>();
  for (int64_t i = 0; pivots.dim() > 0 && i < pivots.numel(); ++i) {
    const int64_t num_rows = pivots.size(-1);
    const int64_t row = i % num_rows + 1;
    const bool is_block = values[i] < 0;
    const bool fits = is_block ? row < num_rows && values[i] == values[i + 1] &&
                                     values[i] >= -num_rows && values[i] < -row
                               : values[i] >= row && values[i] <= num_rows;
    TORCH_CHECK(fits, "pivots has ", values[i], " at ", i, ", but should be from ", row, " to ",
                num_rows, ", or a pair of equal values from ", -num_rows, " to ", -row - 1);
    if (is_block) ++i;
  }
}

// Dividing the least integer by -1 kills the process.
void check_truncation(const NamedArguments& arguments) {
  const at::Tensor self = arguments.tensor("self");
  const at::Tensor other = arguments.tensor("other");
  const c10::ScalarType dtype = at::result_type(self, other);
  if (dtype != at::kInt && dtype != at::kLong) return;
  // Check for -1 first: what follows depends on data, so a trace would end there.
  const at::Tensor divisors = other.to(at::kLong).contiguous();
  const auto* const begin = divisors.const_data_ptr<int64_t>();
  if (std::find(begin, begin + divisors.numel(), -1) == begin + divisors.numel()) return;
  const int64_t least =
      dtype == at::kInt ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min();
  TORCH_CHECK(!self.eq(least).logical_and(other.eq(-1)).any().item<bool>(), least,
              " divided by -1 is out of range for ", dtype);
}

void check_division(const NamedArguments& arguments) {
  if (!arguments.has("rounding_mode") || arguments.text("rounding_mode") != "trunc") return;
  check_truncation(arguments);
}

// A composite operator has the check of what it calls.
constexpr NamedFunction<ValueCheck> kValueChecks[] = {
    {"bags", check_bags},
    {"batch_sizes", check_batch_sizes},
    {"counted_indices", check_counted_indices},
    {"division", check_division},
    {"ldl_pivots", check_ldl_pivots},
    {"maxima_2d", check_maxima<2>},
    {"maxima_3d", check_maxima<3>},
    {"segments", check_segments},
    {"targets", check_targets},
    {"truncation", check_truncation},
};

}  // namespace

ValueCheck find_value_check(const c10::OperatorHandle& op) {
  return find_function(kValueChecks, facts_of(op).value_check);
}

void check_argument_values(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  if (const ValueCheck check = find_value_check(op)) check({op.schema(), stack});
}

}  // namespace torch_ir
