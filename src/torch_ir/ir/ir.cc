#include "torch_ir/ir/ir.h"

#include <c10/util/accumulate.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>

#include "torch_ir/base/characters.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/program.h"
#include "torch_ir/ir/strided_copy.h"

namespace torch_ir {
namespace {

// NaN has many bit patterns, but only one text in a file.
bool differ_in_nan_only(const at::Tensor& a, const at::Tensor& b) {
  if (!a.is_floating_point() && !a.is_complex()) return false;
  const at::Tensor left = as_doubles(a);
  const at::Tensor right = as_doubles(b);
  const at::Tensor same_bits = left.view(at::kLong).eq(right.view(at::kLong));
  return same_bits.logical_or(left.isnan().logical_and(right.isnan())).all().item<bool>();
}

bool same_values(const at::Tensor& a, const at::Tensor& b) {
  if (same_elements(a, b)) return true;
  const bool is_comparable = a.defined() && b.defined() && !a.is_meta() && !b.is_meta() &&
                             a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes();
  return is_comparable && differ_in_nan_only(a, b);
}

// The functions below take a TensorMeta or a Value.
template <class AnyValue>
std::string size_text(const AnyValue& meta, size_t dimension) {
  const bool is_symbolic = !meta.symbolic_shape.empty() && !meta.symbolic_shape[dimension].empty();
  return is_symbolic ? meta.symbolic_shape[dimension] : std::to_string(meta.shape[dimension]);
}

// Parenthesizes expressions, which would run into their neighbours between "x": "s0*2" as "(s0*2)".
std::string factor_text(const std::string& size) {
  return std::ranges::all_of(size, is_name_part) ? size : "(" + size + ")";
}

std::string number_text(const TensorMeta& meta) {
  if (meta.dtype == "bool") return "bool";
  return meta.dtype == "float64" ? "float" : "int";
}

std::string number_text(const Value& value) {
  if (value.dtype == c10::kBool) return "bool";
  return value.dtype == c10::kDouble ? "float" : "int";
}

template <class AnyValue>
std::string text_of_shape(const AnyValue& value) {
  if (value.is_scalar) return number_text(value);
  if (value.shape.empty()) return "scalar";
  std::string text = factor_text(size_text(value, 0));
  for (size_t i = 1; i < value.shape.size(); ++i) text += "x" + factor_text(size_text(value, i));
  return text;
}

template <class AnyValue>
std::string text_of_sizes(const AnyValue& value) {
  std::string text;
  for (size_t i = 0; i < value.shape.size(); ++i) text += (i > 0 ? ", " : "") + size_text(value, i);
  return "[" + text + "]";
}

template <class AnyValue>
bool has_symbol(const AnyValue& value) {
  return std::ranges::any_of(value.symbolic_shape, [](const auto& text) { return !text.empty(); });
}

}  // namespace

bool IR::operator==(const IR& other) const {
  return model_name == other.model_name && pytorch_version == other.pytorch_version &&
         IRGraph::operator==(other) && weights == other.weights &&
         constant_inputs == other.constant_inputs && range_constraints == other.range_constraints &&
         guards == other.guards && tied_weights == other.tied_weights && state == other.state &&
         weight_name_mapping.keys() == other.weight_name_mapping.keys() &&
         weight_name_mapping.values() == other.weight_name_mapping.values() &&
         constants.keys() == other.constants.keys() &&
         std::ranges::equal(constants.values(), other.constants.values(), same_values);
}

std::ostream& operator<<(std::ostream& stream, const IR& ir) {
  return stream << "IR(model_name='" << printable(ir.model_name) << "', nodes=" << ir.nodes.size()
                << ", inputs=" << ir.graph_inputs.size() << ", outputs=" << ir.graph_outputs.size()
                << ", weights=" << ir.weights.size() << ")";
}

int64_t num_elements(const TensorMeta& meta) { return c10::multiply_integers(meta.shape); }
int64_t num_elements(const Value& value) { return c10::multiply_integers(value.shape); }

std::string shape_text(const std::vector<int64_t>& shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

std::string shape_text(const TensorMeta& meta) { return text_of_shape(meta); }
std::string shape_text(const Value& value) { return text_of_shape(value); }

std::string shape_list_text(const TensorMeta& meta) { return text_of_sizes(meta); }
std::string shape_list_text(const Value& value) { return text_of_sizes(value); }

bool is_dynamic(const TensorMeta& meta) { return has_symbol(meta); }
bool is_dynamic(const Value& value) { return has_symbol(value); }

}  // namespace torch_ir
