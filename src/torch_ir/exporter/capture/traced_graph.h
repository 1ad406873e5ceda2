// TracedGraph: what capture records, before it has names.
//
// Values are numbered in the order in which they appear; arguments are complete, one for each
// argument of the operator's schema, defaults included. Rewrites work on this form; name_graph.h
// turns it into an ExportedProgram.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "torch_ir/exporter/exported_program.h"

namespace torch_ir {

// Index into TracedGraph::values.
using ValueId = size_t;

using TracedList = std::vector<std::optional<ValueId>>;

// A tensor, a list of tensors, or any other value (None for a tensor that is absent).
using TracedArgument = std::variant<ValueId, TracedList, c10::IValue>;

struct TracedNode {
  c10::OperatorHandle op;
  std::vector<TracedArgument> arguments;
  std::vector<ValueId> outputs;
};

struct TracedInput {
  InputKind kind;
  // The wanted placeholder name for user inputs, the state dict name for all others.
  std::string name;
  ValueId value;
};

struct TracedGraph {
  std::vector<ValueMeta> values;
  std::vector<TracedInput> inputs;
  std::vector<TracedNode> nodes;
  std::vector<ValueId> outputs;
};

}  // namespace torch_ir
