// The names of dtypes in IR files and messages: PyTorch's Python names without `torch.`
// ("float32", "bfloat16", "complex64", "bool", "float8_e4m3fn", ...).
#ifndef TORCH_IR_IR_DTYPE_H_
#define TORCH_IR_IR_DTYPE_H_

#include <c10/core/ScalarType.h>

#include <optional>
#include <string>
#include <string_view>

namespace torch_ir {

// The Python name of `type`, such as "float32". Throws Error for a type without one (quantized
// types that no tensor of a graph can have are included under their Python names).
std::string dtype_name(c10::ScalarType type);

// The type called `name`, or nothing when there is none.
std::optional<c10::ScalarType> find_dtype(std::string_view name);

// The type called `name`. Throws Error("unknown dtype 'NAME'").
c10::ScalarType parse_dtype(std::string_view name);

}  // namespace torch_ir

#endif  // TORCH_IR_IR_DTYPE_H_
