#include "harness/divergence/value_form.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <fmt/format.h>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/python_operators/quantized.h"

namespace torch_ir {
namespace {

at::Tensor without_padding(at::Tensor tensor, const ValueForm& form) {
  for (size_t i = 0; i < form.padding.size(); ++i) {
    const auto dimension = static_cast<int64_t>(i);
    const auto [before, behind] = form.padding[i];
    const int64_t size = tensor.size(dimension);
    if (before > size || behind > size - before) {
      throw ExecutionError(
          fmt::format("'{}' was returned with size {} in dimension {}, less "
                      "than its padding of {} and {}",
                      printable(form.name), size, i, before, behind));
    }
    tensor = tensor.narrow(dimension, before, size - before - behind);
  }
  return tensor;
}

at::Tensor in_order(const at::Tensor& tensor, const ValueForm& form) {
  if (form.permutation.empty()) return tensor;
  std::vector<int64_t> inverse(form.permutation.size());
  for (size_t i = 0; i < inverse.size(); ++i) {
    inverse[static_cast<size_t>(form.permutation[i])] = static_cast<int64_t>(i);
  }
  return tensor.permute(inverse);
}

// Numbers that the conversion would change could pass as others.
void check_numbers(const at::Tensor& tensor, const ValueForm& form, c10::ScalarType wanted) {
  const c10::ScalarType stored = tensor.scalar_type();
  const bool keeps_all = c10::canCast(stored, wanted) && !c10::isIntegralType(wanted, false);
  if (keeps_all || wanted == c10::kBool) return;
  const auto widest = c10::isComplexType(stored) ? c10::kComplexDouble : c10::kDouble;
  if (at::equal(tensor.to(wanted).to(widest), tensor.to(widest))) return;
  throw ExecutionError(fmt::format(
      "'{}' was returned as {} with numbers that {}, its dtype in the graph, cannot hold",
      printable(form.name), dtype_name(stored), dtype_name(wanted)));
}

}  // namespace

SeenValue in_graph_form(const at::Tensor& tensor, const ValueForm& form, const Value& value) {
  const c10::ScalarType stored = tensor.scalar_type();
  if (!form.dtype.empty() && dtype_name(stored) != form.dtype) {
    throw ExecutionError(fmt::format("'{}' was returned as {}, but its group expects {}",
                                     printable(form.name), dtype_name(stored), form.dtype));
  }
  for (const size_t rank : {form.permutation.size(), form.padding.size()}) {
    if (rank == 0 || static_cast<int64_t>(rank) == tensor.dim()) continue;
    throw ExecutionError(
        fmt::format("'{}' was returned with shape {}, but its group expects rank {}",
                    printable(form.name), shape_list_text(tensor.sizes()), rank));
  }
  SeenValue seen = in_order(without_padding(tensor, form), form);
  if (form.dtype.empty()) return seen;
  const c10::ScalarType wanted = value.dtype;
  if (form.scale) {
    const auto zero_point = static_cast<double>(form.zero_point);
    const auto [low, high] = quantized_range(stored);
    seen.step = *form.scale;
    seen.low = (low - zero_point) * seen.step;
    seen.high = (high - zero_point) * seen.step;
    seen.tensor = seen.tensor.to(c10::kDouble).sub(zero_point).mul(seen.step);
  } else {
    check_numbers(seen.tensor, form, wanted);
    const bool is_narrower = c10::isFloatingType(stored) && c10::isFloatingType(wanted) &&
                             c10::elementSize(stored) < c10::elementSize(wanted);
    if (is_narrower) seen.rounded_to = stored;
  }
  seen.tensor = seen.tensor.to(wanted);
  return seen;
}

}  // namespace torch_ir
