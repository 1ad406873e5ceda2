// The nodes of a graph that quantize, or round in another way, or pick indices.
//
// If a value lies between two steps, a difference in its last digit becomes a whole step, and all
// values computed from it differ too.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "torch_ir/ir/program.h"

namespace torch_ir {

// The index of the output that the node rounds to steps, if any: it quantizes, chooses a zero
// point, or rounds to whole numbers.
std::optional<size_t> rounded_output(const Graph& graph, const Node& node);

// Whether nodes round, or pick indices: both turn a small difference into a large one.
bool rounds_or_picks(const Graph& graph, const Node& node);
bool rounds_or_picks(const Graph& graph);

// What the node makes of `read`, with `first` in place of the first, as its output `output`.
at::Tensor value_alone(const Program& program, const Node& node, ValueId output,
                       const std::vector<at::Tensor>& read, const at::Tensor& first);

// The graph with the values that its nodes round, and the indices that they pick, in their order
// after its outputs.
Program with_rounded_values(const Program& program);

}  // namespace torch_ir
