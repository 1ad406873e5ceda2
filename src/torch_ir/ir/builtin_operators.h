// Operators that graphs call and the dispatcher lacks: arithmetic on numbers, which torch.export
// records as calls of Python functions, and control flow.
//
// Their schemas let binding, validation and JSON treat their nodes like any other; the runtime
// implements them.
#pragma once

#include <ATen/core/function_schema.h>

#include <cstddef>
#include <string_view>

namespace torch_ir {

inline constexpr std::string_view kCond = "higher_order.cond";
inline constexpr std::string_view kWhileLoop = "higher_order.while_loop";
inline constexpr std::string_view kScan = "higher_order.scan";
inline constexpr std::string_view kMap = "higher_order.map_impl";

// The schema of the built-in operator `op_type` ("_operator.add", "torch.sym_max",
// "higher_order.cond"), or null. Numbers are `Scalar`; the operands of control flow are `Tensor[]`,
// including numbers.
const c10::FunctionSchema* find_builtin_schema(std::string_view op_type);

// 0 for operators other than control flow that runs.
size_t num_graphs_of(std::string_view op_type);

// Whether `op_type` may take graphs as arguments.
bool is_higher_order(std::string_view op_type);

}  // namespace torch_ir
