// ExplainedRun and ExplainedGraph: the run of a graph to explain, and what its comparison and the
// search for a reproducer both need to know of the graph.
#pragma once

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/results/result.h"
#include "harness/stages/candidate.h"
#include "torch_ir/cases/node_groups.h"
#include "torch_ir/ir/program.h"
#include "torch_ir/runtime/graph/graph_memory.h"

namespace torch_ir {

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
  // Runs the model, which reports its values, on the inputs and the seed of the run.
  void observe_model(const ValueObserver& observer) const {
    at::manual_seed(settings.seed);
    candidate.observe(inputs(), observer);
  }
};

struct ExplainedGraph {
  // `explained` must outlive this.
  explicit ExplainedGraph(const ExplainedRun& explained)
      : run(explained),
        program(run.program()),
        memory(memory_of(run.graph_case)),
        grouped(group_nodes(program, memory, run.groups)),
        grouped_memory(memory_of(run.graph_case.with(grouped.program))),
        ids(program.ids()) {}
  ExplainedGraph(const ExplainedGraph&) = delete;
  ExplainedGraph& operator=(const ExplainedGraph&) = delete;

  const ExplainedRun& run;
  const Program& program;
  const GraphMemory memory;
  // Parts are cut from this graph, at its spans; each node is in one span. Its values have the
  // numbers of `program`.
  const GroupedGraph grouped;
  const GraphMemory grouped_memory;
  // Of all values, by name.
  const std::unordered_map<std::string_view, ValueId> ids;

  ValueId id_of(const std::string& name) const { return ids.at(name); }
};

// Whether a file of tensors can hold `tensor`; plain_copy returns it as the file would.
inline bool fits_a_file(const at::Tensor& tensor) {
  return tensor.defined() && tensor.layout() == c10::kStrided && !tensor.is_quantized() &&
         !tensor.is_meta();
}
inline at::Tensor plain_copy(const at::Tensor& tensor) {
  return tensor.detach().cpu().resolve_conj().resolve_neg().clone(at::MemoryFormat::Contiguous);
}

}  // namespace torch_ir
