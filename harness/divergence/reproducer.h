// Searches for the smallest part of a graph that fails by itself, and writes its files.
//
// The model runs once, and each part gets the values that the model computes before it. A check
// answers whether a part fails: on the backend that failed, or in its own process if the failure
// ends the process. The search starts at the node that diverged and grows backwards, by doubling,
// until the part fails; without a known start, it begins with all nodes. Then it halves the part as
// long as a half fails, and shrinks it from both ends. So it also finds failures of nodes that are
// right alone but wrong together. The last resort is the whole graph. Parts are cut at the borders
// of groups.
#pragma once

#include <ATen/Context.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/results/result.h"
#include "harness/stages/candidate.h"
#include "torch_ir/base/tolerance.h"
#include "torch_ir/cases/node_groups.h"
#include "torch_ir/runtime/graph/graph_memory.h"
#include "torch_ir/verifier/compare_nodes.h"
#include "torch_ir/verifier/judge_run.h"

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

// What the comparison of a run and the search for a reproducer both need to know of its graph. The
// run must outlive it.
struct ExplainedGraph {
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

struct GraphFailure {
  // The first wrong output with its tolerance; for an error, the last output.
  std::string output = {};
  Tolerance tolerance = {};
  // One line.
  std::string message = {};
  bool threw = false;
  // How the executor's command ended: "exited with status 3".
  std::string command_end = {};
  // What was returned, if the run ended.
  std::vector<at::Tensor> actual = {};
};

// The run of a case on `backend`, to be judged as that of a model. What it is given outlives it.
GraphRun run_to_judge(Backend& backend, const Case& graph_case,
                      const std::vector<at::Tensor>& outputs, uint64_t seed);

// Runs a graph, or a part of one, and says how it fails.
using GraphCheck =
    std::function<std::optional<GraphFailure>(const Case& graph_case, const RunSettings& settings)>;

// Runs graphs on `backend` in this process with the seed of the settings, and judges the outputs as
// those of a model. Throws OutputError only.
GraphCheck check_on(Backend& backend);

struct FailedRun {
  const ExplainedGraph& graph;
  GraphCheck check;
  // Whether the run ended its process, as `check`, in a process of its own, finds it to do. Then
  // only a part smaller than the whole graph counts.
  bool ended_process = false;
  std::optional<Divergence> divergence = std::nullopt;
  bool nodes_agree = false;
  // Asked before each part; the smallest part found so far counts then. Null for no limit.
  std::function<bool()> should_stop = nullptr;
};

struct ReproducerSearch {
  std::optional<Reproducer> reproducer = std::nullopt;
  // Explains a missing or surprising reproducer, in sentences; may be empty.
  std::string note = {};
};

// Appends a sentence to those of a note, with a full stop if it has none; an empty one adds
// nothing.
void add_sentence(std::string& note, const std::string& sentence);

// Writes the files of the reproducer, if any: the whole graph if no smaller part fails by itself,
// and none if the whole graph no longer fails either. Throws OutputError.
ReproducerSearch find_reproducer(const FailedRun& failed);

// The weights that the graph uses, by state dict name. Names that it lacks are constants of the
// program.
StateDict used_weights(const Case& graph_case);

// Writes the case with the weights that it uses to `directory` (case_files.h), or nothing if a file
// cannot hold it, and the wrong outputs, if they are known, beside the expected ones:
// actual.safetensors. Returns what the reports say of it, with the command for `settings`. Throws
// OutputError, and WeightError for what a file cannot hold.
Reproducer write_reproducer(Case graph_case, const RunSettings& settings,
                            const std::string& directory, const std::string& message = {},
                            const std::vector<at::Tensor>& actual = {});

// The command that shows the failure in the folder of the reproducer: "harness --ir . ...", on the
// backend and with the seed and the tolerance of `settings`, which has one for all outputs. (An
// executor's command must run in that folder too.)
std::string reproducer_command(bool has_expected, const RunSettings& settings);

// Makes the whole graph a reproducer without running it; the caller must know that it fails.
//
// Without expected outputs, expected.safetensors is not written, and the command compares the
// outputs with those of the operators run one by one. The command has the flags of `settings` for
// the backend, the tolerance of all outputs and the seed. `message` is the message of the failure.
//
// Throws OutputError; the note names values that cannot be stored in a file.
ReproducerSearch whole_graph_reproducer(Case graph_case, const RunSettings& settings,
                                        const std::string& message, const std::string& directory);

}  // namespace torch_ir
