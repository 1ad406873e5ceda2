// SupportReport: which graphs a backend can run, given the operators that it has.
//
// What `torch-ir ops --supported LIST` and `harness --supported LIST` print. Nothing runs: a graph
// can be taken when the list has every operator that it calls, those in the graphs of control flow
// too. The list is a text file, one operator a line:
//
//   # what the chip has
//   aten.add.Tensor
//   aten.conv2d        # all overloads
//   aten.mul.*         # the same
//   _operator.*        # all operators of a namespace
//
// Names may also be written as C++ and Python do: aten::add.Tensor, torch.ops.aten.add.Tensor. One
// that no graph uses does no harm.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// The operators that a backend has.
class SupportedOperators {
 public:
  // Reads the text of a list; `path` is what messages call it. Throws Error, with path and line,
  // for what is no operator name.
  static SupportedOperators parse(std::string_view text, const std::string& path);
  // The same with the text of the file.
  static SupportedOperators load(const std::string& path);

  // Whether the list has `op_type`, or all overloads of it, or all of its namespace.
  bool contains(const std::string& op_type) const;

 private:
  std::unordered_set<std::string> operators_;
  // "aten.conv2d": whatever begins like that, up to a dot.
  std::unordered_set<std::string> families_;
};

// What is asked of a backend by one graph. Without the graph itself, so that there may be
// thousands.
struct GraphOperators {
  // Of a model, or of its file.
  std::string name;
  // Each with the number of its calls, most frequent first.
  std::vector<std::pair<std::string, int64_t>> operators;
  // Why there is no graph; empty where there is one.
  std::string error = {};
};

GraphOperators operators_of(std::string name, const Graph& graph);

struct GraphSupport {
  std::string name;
  // Calls of operators, and how many of them are of operators that the backend has.
  int64_t num_calls = 0;
  int64_t num_supported_calls = 0;
  // Operators that the backend lacks, with the number of their calls, most frequent first.
  std::vector<std::pair<std::string, int64_t>> missing;
  // As in GraphOperators.
  std::string error;

  bool runs() const { return missing.empty() && error.empty(); }
};

struct MissingOperator {
  std::string op_type;
  // How many graphs call it, how many of these lack nothing else, and how often it is called.
  int64_t num_graphs = 0;
  int64_t num_unlocked = 0;
  int64_t num_calls = 0;
};

struct SupportReport {
  // In the order in which they were given.
  std::vector<GraphSupport> graphs;
  int64_t num_running = 0;
  // Those that most graphs need first; ties by the graphs that they would unlock, by calls, by
  // name.
  std::vector<MissingOperator> missing;
};

SupportReport supported(const std::vector<GraphOperators>& graphs, const SupportedOperators& list);

// Two tables, graphs and missing operators. `list_name` is what the text calls the list.
std::string to_text(const SupportReport& report, const std::string& list_name);

// An object with "num_models", "num_running"; "models", each with "name", "runs", "calls",
// "supported_calls", "missing" (operator to calls), and "error" where there is no graph;
// and "missing_operators", each with "op_type" and the numbers "models", "unlocks" and "calls".
std::string to_json(const SupportReport& report);

}  // namespace torch_ir
