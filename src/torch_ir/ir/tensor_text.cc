#include "torch_ir/ir/tensor_text.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"

namespace torch_ir {

std::string shape_list_text(c10::IntArrayRef shape) {
  return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ", "));
}

std::string describe_difference(const at::Tensor& tensor, c10::IntArrayRef shape,
                                c10::ScalarType dtype) {
  if (tensor.sizes() != shape) {
    return fmt::format("shape {}, expected {}", shape_list_text(tensor.sizes()),
                       shape_list_text(shape));
  }
  if (tensor.scalar_type() != dtype) {
    return fmt::format("dtype {}, expected {}", dtype_name(tensor.scalar_type()),
                       dtype_name(dtype));
  }
  return {};
}

std::string message_text(const std::exception& error) {
  const auto* c10_error = dynamic_cast<const c10::Error*>(&error);
  if (c10_error == nullptr) return error.what();
  // LibTorch lists all backends that it knows. Whoever wraps it says more, such as which node it
  // was.
  constexpr size_t kMaxSize = kMaxMessageSize / 2;
  return short_line(headline(c10_error->what_without_backtrace()), kMaxSize);
}

}  // namespace torch_ir
