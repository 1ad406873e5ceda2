#include "torch_ir/ir/ir.h"

#include <ATen/ops/view_as_real.h>
#include <c10/util/accumulate.h>

#include <cstring>
#include <ostream>

namespace torch_ir {
namespace {

at::Tensor as_doubles(const at::Tensor& tensor) {
  return tensor.is_complex() ? at::view_as_real(tensor.to(at::kComplexDouble))
                             : tensor.to(at::kDouble);
}

// NaN has many bit patterns, but only one text in a file.
bool differ_in_nan_only(const at::Tensor& a, const at::Tensor& b) {
  if (!a.is_floating_point() && !a.is_complex()) return false;
  const at::Tensor left = as_doubles(a);
  const at::Tensor right = as_doubles(b);
  const at::Tensor same_bits = left.view(at::kLong).eq(right.view(at::kLong));
  return same_bits.logical_or(left.isnan().logical_and(right.isnan())).all().item<bool>();
}

bool same_values(const std::string& a, const std::string& b) { return a == b; }

bool same_values(const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) return false;
  if (a.is_meta() || b.is_meta()) return a.is_meta() == b.is_meta();
  const at::Tensor left = a.contiguous();
  const at::Tensor right = b.contiguous();
  return left.nbytes() == 0 ||
         std::memcmp(left.const_data_ptr(), right.const_data_ptr(), left.nbytes()) == 0 ||
         differ_in_nan_only(left, right);
}

// Same keys in the same order with the same values.
template <class Value>
bool same_items(const torch::OrderedDict<std::string, Value>& a,
                const torch::OrderedDict<std::string, Value>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].key() != b[i].key() || !same_values(a[i].value(), b[i].value())) return false;
  }
  return true;
}

}  // namespace

bool IR::operator==(const IR& other) const {
  return model_name == other.model_name && pytorch_version == other.pytorch_version &&
         graph_inputs == other.graph_inputs && graph_outputs == other.graph_outputs &&
         weights == other.weights && nodes == other.nodes &&
         same_items(weight_name_mapping, other.weight_name_mapping) &&
         same_items(constants, other.constants);
}

std::ostream& operator<<(std::ostream& stream, const IR& ir) {
  return stream << "IR(model_name='" << ir.model_name << "', nodes=" << ir.nodes.size()
                << ", inputs=" << ir.graph_inputs.size() << ", outputs=" << ir.graph_outputs.size()
                << ", weights=" << ir.weights.size() << ")";
}

int64_t num_elements(const TensorMeta& meta) { return c10::multiply_integers(meta.shape); }

std::string shape_text(const std::vector<int64_t>& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const int64_t size : shape) {
    if (!text.empty()) text += 'x';
    text += std::to_string(size);
  }
  return text;
}

}  // namespace torch_ir
