// The executor registry: implementations for operators that the dispatcher does not have.
//
// Every operator of LibTorch runs through the dispatcher without an entry here. An entry is for
// what is not one (`<built-in function getitem>`, which is here from the start), or to replace one.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Computes the outputs of `node`, one for each of OpNode::outputs, from its inputs, in the order
// of OpNode::inputs. Called from any thread, without gradients. It may return its inputs or views
// of them, and must not write to them.
using OpExecutor =
    std::function<std::vector<at::Tensor>(const OpNode& node, const std::vector<at::Tensor>&)>;

// Makes `executor` the one for `op_type` in plans compiled from now on. An empty one takes the
// entry away. Thread-safe.
void register_executor(const std::string& op_type, OpExecutor executor);

// The executor registered for `op_type`, or an empty function.
OpExecutor find_executor(const std::string& op_type);

// Whether it does nothing but hand on one of its inputs: the one for getitem that is here from the
// start.
bool hands_on_input(const OpExecutor& executor);

// The operators that have one, sorted.
std::vector<std::string> list_registered_executors();

}  // namespace torch_ir
