#include "torch_ir/verifier/picked_indices.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/take.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "torch_ir/ir/binding.h"
#include "torch_ir/operators/operator_facts.h"

namespace torch_ir {
namespace {

// The dimension along which the node compares values; nothing if it compares all.
std::optional<int64_t> dim_of(const Node& node) {
  if (const Attribute* given = node.find_attribute("dim")) {
    const auto* dim = given->get_if<int64_t>();
    return dim == nullptr ? std::nullopt : std::optional(*dim);
  }
  const c10::FunctionSchema* schema = find_schema(node.target);
  const auto position = schema == nullptr ? std::nullopt : schema->argumentIndexWithName("dim");
  if (!position) return std::nullopt;
  const auto& missing = schema->arguments()[static_cast<size_t>(*position)].default_value();
  return missing && missing->isInt() ? std::optional(missing->toInt()) : std::nullopt;
}

// Indices along a dimension may lack it.
at::Tensor picked(const at::Tensor& values, std::optional<int64_t> dim, const at::Tensor& indices) {
  if (!dim) return at::take(values.contiguous(), indices);
  if (indices.dim() == values.dim()) return at::gather(values, *dim, indices);
  return at::gather(values, *dim, indices.unsqueeze(*dim)).squeeze(*dim);
}

std::vector<int64_t> position_of(const at::Tensor& mask) {
  const at::Tensor first = mask.nonzero()[0];
  return {first.const_data_ptr<int64_t>(), first.const_data_ptr<int64_t>() + first.numel()};
}

double number_at(const at::Tensor& tensor, const std::vector<int64_t>& position) {
  at::Tensor element = tensor;
  for (const int64_t index : position) element = element[index];
  return element.item<double>();
}

}  // namespace

std::optional<ValueId> picked_indices(const Graph& graph, const Node& node) {
  const bool picks = facts_of(node.target).property == "picked_values";
  if (!picks || node.outputs.empty()) return std::nullopt;
  if (!c10::isFloatingType(graph[node.inputs().at(0)].dtype)) return std::nullopt;
  return node.outputs.back();
}

IndexComparison compare_indices(const Node& node, const at::Tensor& indices,
                                const at::Tensor& expected, const at::Tensor& values, double error,
                                double unit) {
  IndexComparison result;
  const at::Tensor differs = indices.ne(expected);
  const auto num_other = differs.sum().item<int64_t>();
  if (num_other == 0) return result;
  const std::optional<int64_t> dim = dim_of(node);
  const int64_t size = dim && values.dim() > 0 ? values.size(*dim) : values.numel();
  const at::Tensor is_valid = indices.ge(0).logical_and(indices.lt(size));
  const at::Tensor own = picked(values, dim, indices.to(c10::kLong).clamp(0, size - 1));
  const at::Tensor other = picked(values, dim, expected);
  const at::Tensor reach = own.abs().add(other.abs()).mul(unit).add(2 * error);
  const at::Tensor is_close = own.eq(other).logical_or(own.sub(other).abs().le(reach));
  const at::Tensor is_wrong = differs.logical_and(is_close.logical_and(is_valid).logical_not());
  result.num_wrong = is_wrong.sum().item<int64_t>();
  result.num_explained = num_other - result.num_wrong;
  if (result.num_wrong == 0) return result;
  const std::vector<int64_t> at = position_of(is_wrong);
  result.problem = fmt::format("index {} at [{}], expected {}", number_at(indices, at),
                               fmt::join(at, ", "), number_at(expected, at));
  if (number_at(is_valid, at) == 0) return result;
  result.problem += fmt::format(": the values are {:.6g} and {:.6g}, and their error is {:.2g}",
                                number_at(own, at), number_at(other, at), number_at(reach, at) / 2);
  return result;
}

}  // namespace torch_ir
