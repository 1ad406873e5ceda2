// SupportReport: the graphs that a backend can run, given its list of operators.
//
// Nothing is executed: a graph is supported if the list has every operator that it calls, also in
// the graphs of control flow. The list is a text file, one operator a line:
//
//   # operators of the chip
//   aten.add.Tensor
//   aten.conv2d        # all overloads
//   aten.mul.*         # the same
//   _operator.*        # all operators of a namespace
//
// C++ and Python names work too: aten::add.Tensor, torch.ops.aten.add.Tensor. Unused names are
// ignored. Operators that run on the host are never missing (OperatorFacts::runs_on_host).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "torch_ir/ir/program.h"

namespace torch_ir {

class SupportedOperators {
 public:
  // Parses a list; messages call it `path`. Throws Error, with path and line, for an invalid name.
  static SupportedOperators parse(std::string_view text, const std::string& path);
  static SupportedOperators load(const std::string& path);

  // Whether the list has `op_type`, all its overloads, or its namespace.
  bool contains(const std::string& op_type) const;

 private:
  std::unordered_set<std::string> operators_;
  // "aten.conv2d": matches any name that continues with a dot.
  std::unordered_set<std::string> families_;
};

// The operators of a graph. The graph itself is not kept, since there may be thousands.
struct GraphOperators {
  // The name of a model, or of its file.
  std::string name;
  // With the number of calls, most frequent first.
  std::vector<std::pair<std::string, int64_t>> operators;
  // Explains why there is no graph; empty if there is one.
  std::string error = {};
};

GraphOperators operators_of(std::string name, const Graph& graph);

struct GraphSupport {
  std::string name;
  // All calls of operators, and those that the backend supports.
  int64_t num_calls = 0;
  int64_t num_supported_calls = 0;
  std::vector<std::pair<std::string, int64_t>> missing;
  std::string error;

  bool runs() const { return missing.empty() && error.empty(); }
};

struct MissingOperator {
  std::string op_type;
  // Graphs that call it, graphs that lack only this operator, and its calls.
  int64_t num_graphs = 0;
  int64_t num_unlocked = 0;
  int64_t num_calls = 0;
};

// Operators that unlock graphs together, added to those of the steps before.
struct UnlockStep {
  std::vector<std::string> operators;
  int64_t num_unlocked = 0;
  // All graphs that run then.
  int64_t num_running = 0;
};

struct SupportReport {
  std::vector<GraphSupport> graphs;
  int64_t num_running = 0;
  // Needed by most graphs first; ties by unlocked graphs, by calls, by name.
  std::vector<MissingOperator> missing;
  // Each step unlocks most graphs per operator; at most twenty.
  std::vector<UnlockStep> steps;
};

SupportReport supported(const std::vector<GraphOperators>& graphs, const SupportedOperators& list);

// Tables of graphs, missing operators and steps, with `list_name` in the text.
std::string to_text(const SupportReport& report, const std::string& list_name);

}  // namespace torch_ir
