// Records a model's operator calls as a graph.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "torch_ir/exporter/capture/lifted_constants.h"
#include "torch_ir/exporter/capture/model.h"
#include "torch_ir/ir/program.h"
#include "torch_ir/weights/graph_names.h"

namespace torch_ir {

// The state of a module by dotted name; tied weights have only their first name, and all of them in
// `ties`.
struct ModuleState {
  StateDict parameters = StateDict();
  StateDict buffers = StateDict();
  std::vector<LiftedConstant> constants = {};
  TiedWeights ties = {};
};

// The calls of a model on some inputs.
struct Recording {
  // Nodes have all their arguments and no names (python_form.h).
  Graph graph;
  // The constants by name, as they were at their first use.
  StateDict constants = StateDict();
  // Those of them that the run made, and so makes again in the next one.
  std::vector<std::string> made_constants = {};
};

// Runs `model`, whose module has this state, on inputs with these names. On meta, tensors have no
// data, and only the shapes of the model's real tensors count. At the end, memory that the model
// had before and wrote to is as it was. Throws ExportError.
Recording record_calls(const Model& model, const ModuleState& state,
                       const std::vector<std::string>& names, const std::vector<at::Tensor>& inputs,
                       bool on_meta);

}  // namespace torch_ir
