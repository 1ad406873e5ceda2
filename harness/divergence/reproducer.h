// The smallest part of a graph, as far as a search can tell, that fails by itself.
//
// A part is given what the model computes before it, and runs on the very backend that failed, or
// in a process of its own where the failure ends one: the search knows a check, and no more of
// either. It starts from the node that diverged and grows backwards, by doubling, until the part
// fails; then it shrinks from both ends. So it finds as well what goes wrong only when nodes run
// together, while each of them alone is right. Where no value tells where to start, or that leads
// to nothing, it starts from the outputs. What is left in the end is the whole graph. For a run
// that ended with an error it starts at the first node up to which the graph fails.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/divergence/reference_run.h"
#include "harness/results/result.h"
#include "harness/stages/candidate.h"
#include "torch_ir/executor/graph/graph_memory.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/verifier/compare_nodes.h"
#include "torch_ir/verifier/tolerance.h"

namespace torch_ir {

// A run of a graph that is to be explained. All that it refers to outlives it.
struct ExplainedRun {
  Candidate& candidate;
  const IR& ir;
  const std::vector<at::Tensor>& inputs;
  // The tolerance in effect, and the seed of operators that draw random numbers.
  const RunSettings& settings;
  // Where the files of the reproducer go; made when there is one.
  std::string directory = {};
  // What the outputs were compared with, undefined where nothing says it; empty for a run that
  // ended with an error before.
  std::vector<at::Tensor> expected = {};

  // Whether it failed by an error, and not by wrong values.
  bool threw() const { return expected.empty(); }
};

// How a graph, or a part of one, fails.
struct GraphFailure {
  // The first output that is wrong, and its tolerance; for an error, the last output.
  std::string output = {};
  Tolerance tolerance = {};
  // One line.
  std::string message = {};
  // Whether it is an error, and not a wrong value.
  bool threw = false;
  // How an executor's command ended that failed: "exited with status 3".
  std::string command_end = {};
};

// Runs a graph, or a part of one, and says how it fails. Outputs of which `expected` says nothing,
// undefined or empty as it may be, are not compared.
using GraphCheck = std::function<std::optional<GraphFailure>(
    const IR& ir, const StateDict& weights, const std::vector<at::Tensor>& inputs,
    const std::vector<at::Tensor>& expected, const RunSettings& settings)>;

// By `backend`, in this process, with the seed of the settings; outputs are compared by their
// tolerance, or by float64 where that is the reference. Throws OutputError only.
GraphCheck check_on(Backend& backend);

// Thrown by a check that may run no more; what was found so far counts.
struct SearchEnded {};

// What failed, and what is known of it.
struct FailedRun {
  const ExplainedRun& run;
  // What the graph runs with.
  const StateDict& weights;
  GraphCheck check;
  const GraphMemory& memory;
  // A part of a graph would draw other random numbers than the whole one.
  const ReferenceWatch& reference;
  // The node that diverged and its value, where one did.
  std::optional<Divergence> divergence = std::nullopt;
  // Whether all values that were compared agree.
  bool nodes_agree = false;
};

struct ReproducerSearch {
  std::optional<Reproducer> reproducer = std::nullopt;
  // Why there is none, or why it is not what one would think: sentences; may be empty.
  std::string note = {};
};

// Writes the files of the reproducer, if there is one. It is the whole graph where no smaller part
// fails by itself, and there is none where the whole graph, run again, does not fail either. Throws
// OutputError for files that cannot be written.
ReproducerSearch find_reproducer(const FailedRun& failed);

// The smallest part of a run that ended its process, where there is one that is smaller than the
// whole graph. The check runs in a process of its own. Throws OutputError.
ReproducerSearch find_part_that_ends(const FailedRun& failed);

// The whole graph as a reproducer, with all that it ran with. Runs nothing, so that the caller has
// to know that it fails.
//
// `weights` may have more than the graph uses, by state dict name or placeholder. `expected` has
// one tensor for each graph output, undefined where nothing says what it should be, or is empty:
// then no expected.safetensors is written, and what the operators compute one by one is expected.
// Of `settings` the command takes what runs the graph, the tolerance of all outputs and the seed.
// `message` is what the failure says.
//
// Throws OutputError; what can not be stored in a file is in the note.
ReproducerSearch whole_graph_reproducer(const IR& ir, const StateDict& weights,
                                        const std::vector<at::Tensor>& inputs,
                                        const std::vector<at::Tensor>& expected,
                                        const RunSettings& settings, const std::string& message,
                                        const std::string& directory);

}  // namespace torch_ir
