// The run of a graph to explain, and runs of the model itself for the search for a reproducer.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/results/result.h"
#include "harness/stages/candidate.h"
#include "torch_ir/cases/graph_part.h"
#include "torch_ir/cases/node_groups.h"
#include "torch_ir/ir/program.h"
#include "torch_ir/operators/random_state.h"
#include "torch_ir/runtime/graph/graph_memory.h"

namespace torch_ir {

class ReferenceWatch {
 public:
  explicit ReferenceWatch(const Program& program);

  // Runs `candidate` on `inputs` with the random numbers of `seed`; `observer` may be null.
  void run(Candidate& candidate, const std::vector<at::Tensor>& inputs, uint64_t seed,
           const ValueObserver& observer = nullptr);

  const RunFacts& facts() const { return facts_; }
  const std::set<size_t>& random_nodes() const { return random_nodes_; }

 private:
  std::unordered_map<std::string, size_t> drawing_;
  RunFacts facts_;
  std::set<size_t> random_nodes_;
};

// The run of a graph to explain. Everything it refers to must outlive it.
struct ExplainedRun {
  Candidate& candidate;
  // Without expected outputs if the run ended with an error.
  const Case& graph_case;
  // The tolerance in effect, and the seed of operators that draw random numbers.
  const RunSettings& settings;
  std::string directory = {};
  // Gets the values of nodes that the run returns, in the form of the graph; empty for none.
  std::string values_file = {};
  // The groups of nodes that the run computed at once; they fit the graph.
  std::vector<NodeGroup> groups = {};
  int trial = 0;

  const Program& program() const { return *graph_case.program; }
  const std::vector<at::Tensor>& inputs() const { return graph_case.inputs; }
  // Whether the run failed with an error rather than wrong values.
  bool threw() const { return graph_case.expected.empty(); }
};

struct ExplainedGraph {
  // `run` must outlive this.
  explicit ExplainedGraph(const ExplainedRun& run);
  ExplainedGraph(const ExplainedGraph&) = delete;
  ExplainedGraph& operator=(const ExplainedGraph&) = delete;

  const Program& program;
  const GraphMemory memory;
  // The case of the run, but weights that the model writes to are copies, so that it cannot change
  // the graph's.
  const Case graph_case;
  // Parts are cut from this graph, at its spans; each node is in one span. Its values have the
  // numbers of `program`.
  const GroupedGraph grouped;
  const GraphMemory grouped_memory;
  const PartCutter cutter;
  // Of all values, by name.
  const std::unordered_map<std::string_view, ValueId> ids;
  // Tells which nodes draw random numbers: a part would draw others than the whole graph.
  ReferenceWatch watch;

  // Nothing for other names.
  std::optional<ValueId> find(const std::string& name) const {
    const auto found = ids.find(name);
    return found == ids.end() ? std::nullopt : std::optional(found->second);
  }
  ValueId id_of(const std::string& name) const { return ids.at(name); }
};

// The part with its weights, without inputs and outputs.
Case part_case(const ExplainedGraph& graph, const GraphPart& part);

// Whether a file of tensors can hold `tensor`; plain_copy returns it as the file would.
bool fits_a_file(const at::Tensor& tensor);
at::Tensor plain_copy(const at::Tensor& tensor);

}  // namespace torch_ir
