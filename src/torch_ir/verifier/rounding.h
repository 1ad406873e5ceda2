// check_rounding: judges the outputs of graphs that quantize or round in another way.
//
// If a value lies between two steps, a difference in its last digit becomes a whole step, and all
// values computed from it differ too. So the run is repeated with the values that it rounds, and
// the indices that it picks, as outputs, and each value is judged by its own error.
// That run may fuse other nodes than the first: the outputs of both may differ by what near ties
// make.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/base/tolerance.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

struct GraphRun;

// The index of the output that the node rounds to steps, if any: it quantizes, chooses a zero
// point, or rounds to whole numbers.
std::optional<size_t> rounded_output(const Graph& graph, const Node& node);

bool rounds(const Graph& graph, const Node& node);
bool rounds(const Graph& graph);

// Whether nodes round, or pick indices: both turn a small difference into a large one.
bool rounds_or_picks(const Graph& graph, const Node& node);
bool rounds_or_picks(const Graph& graph);

// A value that a node rounds. Floating-point steps differ in size, so a right element counts as off
// by one, a wrong one as off by more.
struct RoundedValue {
  int64_t index = 0;
  std::string node = {};
  std::string op_type = {};
  std::string value = {};
  int64_t num_elements = 0;
  // Elements that are one step, or more, from eager's; indices count as off by more.
  int64_t num_off_by_one = 0;
  int64_t num_off_by_more = 0;
  // Elements that no sufficiently near input rounds to.
  int64_t num_wrong = 0;
};

struct RoundingReport {
  // In the order of the graph, without values that equal eager's.
  std::vector<RoundedValue> values = {};
  // One line: the first problem, or why nothing could be judged. Empty if all is right.
  std::string problem = {};
};

// "quantize_per_tensor_1" (...): 3 of 64 elements are off by one step, 1 by more
std::string rounded_text(const RoundedValue& value);

// What the node makes of `read`, with `first` in place of the first, as its output `output`.
at::Tensor value_alone(const Program& program, const Node& node, ValueId output,
                       const std::vector<at::Tensor>& read, const at::Tensor& first);

// The graph with its rounded values appended to its outputs.
Program with_rounded_values(const Program& program);

// Reruns with_rounded_values of the graph. Throws only what GraphRun::describe throws.
RoundingReport check_rounding(const GraphRun& run, const ToleranceRule& tolerance,
                              double error_factor);

}  // namespace torch_ir
