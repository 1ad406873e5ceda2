// Calling an operator as a node does, without the values of the graph, and what a composite
// operator consists of.
//
// Used by autocast.h, for operators such as lstm and einsum that have no rule of their own for
// autocast: the operators that they call have.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <functional>
#include <vector>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/exporter/pt2/graph_builder.h"

namespace torch_ir {

// The arguments of `node`, an operator of `schema`, in the schema's order: `make_tensor` makes a
// tensor for each value of the graph, and numbers that nodes make are 1. The same value is the same
// tensor each time only if `make_tensor` sees to it.
torch::jit::Stack make_stack(
    const ExportedNode& node, const c10::FunctionSchema& schema, const GraphBuilder& builder,
    const std::function<at::Tensor(const std::string& name, const ValueMeta& meta)>& make_tensor);

struct Part {
  ExportedNode node;
  std::vector<ValueMeta> outputs;
};

// The calls that `op` makes for `node`, in order, by running it on zeros of the shapes that the
// graph says. The last ones make `node`'s outputs, under their names; other values get new names.
// It runs on the meta device first, to see that shapes fit together and, where it `may_grow`, that
// it makes nothing much larger than it takes.
//
// Throws ExportError for an operator that is not composite, for shapes that are not known or so
// large that this would take long, and where it can not be said which calls make what.
std::vector<Part> decompose(const ExportedNode& node, const c10::OperatorHandle& op, bool may_grow,
                            GraphBuilder& builder);

}  // namespace torch_ir
