// Functions on numbers: what the built-in operators for arithmetic compute.
//
// torch.export records Python's arithmetic on sizes as calls ("_operator.mul", "torch.sym_max");
// these are the same functions with Python's rules: ints stay ints, division rounds down, a bool is
// an int.
#pragma once

#include <ATen/core/ivalue.h>

#include <string_view>
#include <vector>

namespace torch_ir {

// Replaces the arguments on the stack by the result. Throws ExecutionError where Python raises
// (a division by zero) and for integers beyond 64 bits.
using NumberFunction = void (*)(std::vector<c10::IValue>& stack);

// The function for `op_type`, or null.
NumberFunction find_number_function(std::string_view op_type);

}  // namespace torch_ir
