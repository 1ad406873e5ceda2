// NodeGroup: nodes that an executor computes at once, so that only values at their border exist.
//
// A GroupedGraph has the nodes in an order in which each group is a range. Code that
// compares or splits a graph goes by its spans; a node in no group is a span of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "torch_ir/ir/program.h"

namespace torch_ir {

class GraphMemory;

// The form in which a value is returned. The defaults are its form in the graph.
struct ValueForm {
  std::string name = {};
  // Dimension i of the tensor is dimension permutation[i] of the value; empty for the same order.
  std::vector<int64_t> permutation = {};
  // Elements of each dimension of the tensor before and after those of the value; empty for none.
  std::vector<std::array<int64_t, 2>> padding = {};
  // The dtype of the tensor; empty if it is that of the value.
  std::string dtype = {};
  // If given, the tensor has integers q, and the value is (q - zero_point) * scale.
  std::optional<double> scale = std::nullopt;
  int64_t zero_point = 0;
};

struct NodeGroup {
  std::string name = {};
  std::vector<std::string> nodes = {};
  // Values returned in another form, or from inside the group. Other values at the border have the
  // form of the graph.
  std::vector<ValueForm> values = {};
};

// Nodes [first, last] that run at once.
struct NodeSpan {
  size_t first = 0;
  size_t last = 0;
  // Empty for a node without a group.
  std::string group = {};

  size_t size() const { return last - first + 1; }
};

struct GroupedGraph {
  // The values keep their numbers. Without groups, the nodes are in their own order.
  Program program = {};
  std::vector<NodeSpan> spans = {};
  // By number of the node in `program`: its span, and its number in the graph as it was.
  std::vector<size_t> span_of = {};
  std::vector<size_t> original = {};
  // The values to compare, in the order of the graph as it was: compared_values, without those that
  // only their own group reads, unless it returns them.
  std::vector<ValueId> values = {};
  // Names of compared_values that are left out.
  std::vector<std::string> inside = {};

  std::span<const Node> nodes_of(const NodeSpan& span) const {
    return std::span(program.nodes).subspan(span.first, span.size());
  }
  // That of the node that makes `value`.
  const NodeSpan& span_making(ValueId value) const {
    return spans[span_of[program[value].producer.value()]];
  }
};

// The groups of an executor in which the values `inside`, by name, never exist: a node that makes
// one is in a group with those that read it. A group is named after its nodes.
std::vector<NodeGroup> groups_around(const Program& program,
                                     const std::vector<std::string>& inside);

// Throws Error, naming the group, for an unknown or repeated name, for a form that does not fit its
// value, and for a group that would need its own results.
GroupedGraph group_nodes(const Program& program, const GraphMemory& memory,
                         const std::vector<NodeGroup>& groups);

}  // namespace torch_ir
