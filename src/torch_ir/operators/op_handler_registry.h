// The registry of op handlers: functions that implement operators that the dispatcher lacks, such
// as the preregistered `<built-in function getitem>`, or that replace its kernels.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Computes the outputs of `node` (one for each of OpNode::outputs) from its inputs, in the order of
// OpNode::inputs. Called from any thread, without gradients. It may return its inputs or views of
// them, and must not write to them.
using OpHandler =
    std::function<std::vector<at::Tensor>(const OpNode& node, const std::vector<at::Tensor>&)>;

// Sets the handler for `op_type` in plans compiled from now on; an empty one removes it.
// Thread-safe.
void register_executor(const std::string& op_type, OpHandler handler);

// Returns an empty function if there is no handler.
OpHandler find_op_handler(const std::string& op_type);

// Whether `handler` only returns one of its inputs: true for the preregistered getitem.
bool returns_input(const OpHandler& handler);

// Sorted.
std::vector<std::string> list_registered_op_handlers();

}  // namespace torch_ir
