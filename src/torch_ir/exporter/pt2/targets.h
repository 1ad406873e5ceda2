// What the targets of an archive's nodes are: operators, wrappers around a part of the graph, or
// what is not supported.
#pragma once

#include <string>
#include <string_view>

#include "torch_ir/exporter/pt2/serialized_graph.h"

namespace torch_ir {

enum class TargetKind {
  // An operator of PyTorch's dispatcher, known here or not, or arithmetic on numbers.
  kOperator,
  // Changes no value: left out.
  kNothing,
  // Wrappers that are inlined.
  kSetGradEnabled,
  kAutocast,
  kWithEffects,
  // Control flow.
  kCondition,
  kLoop,
  kUnsupported,
};

TargetKind kind_of_target(std::string_view target);

// "aten.conv2d.default" for "torch.ops.aten.conv2d.default"; others are as they are.
std::string op_type_of_target(std::string_view target);

// Throws ExportError that names the targets in `graph`, and in the graphs inside it, that are not
// supported, and the nodes that have them.
void check_targets(const SerializedGraph& graph);

}  // namespace torch_ir
