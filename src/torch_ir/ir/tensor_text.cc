#include "torch_ir/ir/tensor_text.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

std::string describe_difference(const at::Tensor& tensor, const Value& value) {
  std::string text;
  const auto add = [&](std::string_view what, const std::string& actual,
                       const std::string& expected) {
    if (!text.empty()) text += ", and ";
    text += fmt::format("{} {}, expected {}", what, actual, expected);
  };
  const auto agrees = [](int64_t actual, int64_t expected) {
    return expected == kDynamicSize || actual == expected;
  };
  if (!std::ranges::equal(tensor.sizes(), value.shape, agrees)) {
    add("shape", shape_list_text(tensor.sizes()), shape_list_text(value));
  }
  if (tensor.scalar_type() != value.dtype) {
    add("dtype", dtype_name(tensor.scalar_type()), dtype_name(value.dtype));
  }
  if (tensor.layout() != c10::kStrided) {
    add("layout", layout_name(tensor.layout()), layout_name(c10::kStrided));
  }
  return text;
}

std::string shape_list_text(c10::IntArrayRef shape) {
  return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ", "));
}

std::string dtype_and_shape(const Value& value) {
  return dtype_name(value.dtype) + " " + shape_list_text(value);
}

std::string dtype_and_shape(const at::Tensor& tensor) {
  return dtype_name(tensor.scalar_type()) + " " + shape_list_text(tensor.sizes());
}

std::string message_text(const std::exception& error) {
  const auto* c10_error = dynamic_cast<const c10::Error*>(&error);
  if (c10_error == nullptr) return error.what();
  // LibTorch's messages list all known backends. Callers add context, such as the node.
  constexpr size_t kMaxSize = kMaxMessageSize / 2;
  return short_line(headline(c10_error->what_without_backtrace()), kMaxSize);
}

}  // namespace torch_ir
