// The inputs that a model was exported with.
#pragma once

#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/json_value.h"
#include "torch_ir/weights/pickle_value.h"

namespace torch_ir {

// `inputs`, a pickled (args, kwargs), by the names of the graph inputs of the model whose JSON
// `root` is. Tuples, lists and dicts are opened in the order of torch.utils._pytree; numbers become
// tensors without dimensions. Throws ExportError where they do not fit.
StateDict name_example_inputs(const PickleValue& inputs, const JsonValue& root);

}  // namespace torch_ir
