// The nodes of a graph that quantize, or round in another way, or pick indices.
//
// If a value lies between two steps, a difference in its last digit becomes a whole step, and all
// values computed from it differ too. An index turns into another one where two values are as
// close.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "torch_ir/ir/program.h"
#include "torch_ir/verifier/judge.h"

namespace torch_ir {

// The output that the node rounds to steps, if any: it quantizes, chooses a zero point, or rounds
// to whole numbers.
std::optional<ValueId> rounded_value(const Graph& graph, const Node& node);

// The output that holds the indices that the node picks by comparing values of its first input, if
// any: argmax, topk, sort.
std::optional<ValueId> picked_indices(const Graph& graph, const Node& node);

// Whether nodes round, or pick indices: both turn a small difference into a large one.
bool rounds_or_picks(const Graph& graph, const Node& node);
bool rounds_or_picks(const Graph& graph);

// The values that the nodes round, and the indices that they pick, in their order.
std::vector<ValueId> rounded_values(const Graph& graph);

// The graph with these values as its last outputs before the state, which stays last in all graphs:
// a backend need not return it.
Program with_outputs(const Program& program, const std::vector<ValueId>& values);

// What the node makes of `read`, with `first` in place of the first, as its output `output`.
at::Tensor value_alone(const Program& program, const Node& node, ValueId output,
                       const std::vector<at::Tensor>& read, const at::Tensor& first);

// Judges picked indices by the eager lane's, which have their shape. `values`, in float64, are the
// first input of the node; each is as much as `error`, and `unit` of itself, away from the value
// that was compared. Where two are closer to each other, either index is right.
Verdict judge_indices(const Node& node, const at::Tensor& indices, const at::Tensor& eager,
                      const at::Tensor& values, double error, double unit);

}  // namespace torch_ir
