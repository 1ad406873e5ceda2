// The nodes of a graph that quantize, or round in another way, or pick indices; and biases as
// integer hardware rounds them.
//
// If a value lies between two steps, a difference in its last digit becomes a whole step, and all
// values computed from it differ too. An index turns into another one where two values are as
// close.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "torch_ir/runtime/graph/case.h"
#include "torch_ir/verifier/judge.h"

namespace torch_ir {

// The output that the node rounds to steps, if any: it quantizes, chooses a zero point, or rounds
// to whole numbers.
std::optional<ValueId> rounded_value(const Graph& graph, const Node& node);

// The output that holds the indices that the node picks by comparing values of its first input, if
// any: argmax, topk, sort.
std::optional<ValueId> picked_indices(const Graph& graph, const Node& node);

// Either of them: the node turns a small difference into a large one.
std::optional<ValueId> rounded_or_picked(const Graph& graph, const Node& node);

// Those of all nodes, in their order.
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

// A quantised graph as integer hardware computes it; nothing if it has no biases to round. PT2E
// keeps the bias of a convolution or linear layer in float. ONNX Runtime, XNNPACK, TFLite and
// CMSIS-NN add it to the product of integers, as a whole number of steps s_x * s_w.
std::optional<Case> with_integer_biases(const Case& graph_case);

}  // namespace torch_ir
