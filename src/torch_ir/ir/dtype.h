// The names of dtypes, layouts and memory formats in IR files and messages: PyTorch's Python names
// without `torch.` ("float32", "bfloat16", "complex64", "strided", "channels_last", ...).
#pragma once

#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include <optional>
#include <string>
#include <string_view>

namespace torch_ir {

// Throw Error for a value that has no name in Python.
std::string dtype_name(c10::ScalarType dtype);
std::string layout_name(c10::Layout layout);
std::string memory_format_name(c10::MemoryFormat format);

// Empty for an unknown name.
std::optional<c10::ScalarType> find_dtype(std::string_view name);
std::optional<c10::Layout> find_layout(std::string_view name);
std::optional<c10::MemoryFormat> find_memory_format(std::string_view name);

}  // namespace torch_ir
