#include "torch_ir/analysis/diff_values.h"

#include <sstream>

#include "torch_ir/ir/dtype.h"

namespace torch_ir {

std::string form_text(const TensorMeta& value) {
  if (!value.is_scalar) return value.dtype + " " + shape_list_text(value);
  return shape_text(value) + (value.expression.empty() ? "" : " " + value.expression);
}

std::string text_of(const Attribute& attribute) {
  std::ostringstream text;
  text << attribute;
  return text.str();
}

std::string form_text(const at::Tensor& tensor) {
  return form_text(TensorMeta{
      .name = {}, .shape = tensor.sizes().vec(), .dtype = dtype_name(tensor.scalar_type())});
}

}  // namespace torch_ir
