// in_graph_form: converts a tensor from the executor's form to the form of the graph.
#pragma once

#include <ATen/core/Tensor.h>

#include "torch_ir/cases/node_groups.h"
#include "torch_ir/ir/program.h"
#include "torch_ir/verifier/compare_nodes.h"

namespace torch_ir {

// Removes the padding, puts the dimensions into the order of the graph, and dequantises. A dtype
// that `form` does not give stays as it is. Throws ExecutionError if `tensor` is not in this form.
SeenValue in_graph_form(const at::Tensor& tensor, const ValueForm& form, const Value& value);

}  // namespace torch_ir
