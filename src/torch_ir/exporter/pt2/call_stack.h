// Calling an operator as a node does, without the values of the graph.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <functional>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/exporter/pt2/graph_builder.h"

namespace torch_ir {

// The arguments of `node`, an operator of `schema`, in the schema's order: `make_tensor` makes a
// tensor for each value of the graph, and numbers that nodes make are 1. The same value is the same
// tensor each time only if `make_tensor` sees to it.
torch::jit::Stack make_stack(
    const ExportedNode& node, const c10::FunctionSchema& schema, const GraphBuilder& builder,
    const std::function<at::Tensor(const std::string& name, const ValueMeta& meta)>& make_tensor);

}  // namespace torch_ir
