// check_rounding: judges the outputs of graphs that quantize or round in another way.
//
// If a value lies between two steps, a difference in its last digit becomes a whole step, and all
// values computed from it differ too. So the graph is cut at the nodes that round. Each is computed
// by eager operators from the earlier rounded values of the run to judge, and compared in steps: a
// rounded value is right if eager gives it for an input that is at most `error_factor` times as
// far from the input in float64 as eager's own, or the rounding error of its dtype. Outputs are
// right if the graph computes them from the rounded values of that run. Indices that a node picks
// are treated alike: one is right if its value is near enough to eager's.
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

// The graph with its rounded values appended to its outputs.
Program with_rounded_values(const Program& program);

// Reruns with_rounded_values of the graph. Throws only what GraphRun::describe throws.
RoundingReport check_rounding(const GraphRun& run, const ToleranceRule& tolerance,
                              double error_factor);

}  // namespace torch_ir
