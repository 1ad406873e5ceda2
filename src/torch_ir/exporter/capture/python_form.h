// TracedGraph: what capture records, before it has names.
//
// Values are numbered in the order in which they appear; arguments are complete, one for each
// argument of the operator's schema, defaults included. The Recorder makes one, rewrites work on
// it, and name_graph turns it into an ExportedProgram.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <cstddef>
#include <string>
#include <vector>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/operators/call_recording.h"

namespace torch_ir {

// Index into TracedGraph::values.
using TracedId = size_t;

using TracedArgument = RecordedArgument<TracedId>;

struct TracedNode {
  c10::OperatorHandle op;
  std::vector<TracedArgument> arguments;
  std::vector<TracedId> outputs;
};

struct TracedInput {
  InputKind kind;
  // The wanted placeholder name for user inputs, the state dict name for all others.
  std::string name;
  TracedId value;
};

struct TracedGraph {
  std::vector<ValueMeta> values;
  std::vector<TracedInput> inputs;
  std::vector<TracedNode> nodes;
  std::vector<TracedId> outputs;
};

// From the operators that LibTorch's C++ front end calls to those that Python calls:
// `torch::nn::Linear` is `t` and `addmm` in C++ and `linear` in Python; `x / 4.0` is `div.Scalar`
// and `div.Tensor`. Replaces every match of a pattern of rewrites.cc, the longest first, in one
// pass, when nothing outside of it uses the values inside.
void rewrite_to_python_form(TracedGraph& graph);

// The graph with the names that torch.export gives. Placeholders are named by kind and state dict
// name ("p_fc_weight"), nodes by operator ("linear", "linear_1", ...), the outputs of a node with
// several "<node>_0", "<node>_1", ... A node takes the next number where its name, or that of one
// of its outputs, is taken. Trailing positional arguments at their defaults are dropped,
// keyword-only ones wherever they stand. Leaves model_name, torch_version and constants for the
// caller. `names` becomes the name of each value of the traced graph; empty for those that no node
// makes.
ExportedProgram name_graph(const TracedGraph& graph, std::vector<std::string>& names);

}  // namespace torch_ir
