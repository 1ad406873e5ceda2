// Functions on numbers with Python's rules: ints stay ints, division rounds down, a bool is an int.
//
// torch.export records Python's arithmetic on sizes as calls ("_operator.mul", "torch.sym_max").
#pragma once

#include <ATen/core/ivalue.h>

#include <string_view>
#include <vector>

namespace torch_ir {

// Replaces the arguments on the stack by the result. Throws ExecutionError where Python raises (a
// division by zero) and for integers beyond 64 bits.
using NumberFunction = void (*)(std::vector<c10::IValue>& stack);

// Null if there is none.
NumberFunction find_number_function(std::string_view op_type);

}  // namespace torch_ir
