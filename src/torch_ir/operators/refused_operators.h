// Operators that a graph from a file must not run, whatever LibTorch has.
#pragma once

#include <string>
#include <string_view>

namespace torch_ir {

// Why `op_type` is refused ("it maps or creates a file"); empty for all operators that compute.
std::string refusal(std::string_view op_type);

}  // namespace torch_ir
