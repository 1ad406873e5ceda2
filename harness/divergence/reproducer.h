// find_reproducer: the smallest part of a graph, as far as a search can tell, that fails by itself.
//
// A part is given what the model computes before it, and runs on the very backend that failed. The
// search starts from the node that diverged and grows backwards, by doubling, until the part fails;
// then it shrinks from both ends. So it finds as well what goes wrong only when nodes run together,
// while each of them alone is right. Where no value tells where to start, or that leads to nothing,
// it starts from the outputs. What is left in the end is the whole graph. For a run that ended with
// an error it starts at the first node up to which the graph fails.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/divergence/graph_failure.h"
#include "harness/divergence/graph_part.h"
#include "harness/divergence/reference_watch.h"
#include "harness/results/result.h"
#include "harness/stages/candidate.h"
#include "torch_ir/executor/graph/graph_memory.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/verifier/compare_nodes.h"

namespace torch_ir {

// Thrown by a check that may run no more; what was found so far counts.
struct SearchEnded {};

// What failed, and what is known of it. All that it refers to outlives it.
struct FailedRun {
  Candidate& candidate;
  const IR& ir;
  const StateDict& weights;
  const std::vector<at::Tensor>& inputs;
  // What the outputs were compared with, undefined where nothing says it; empty for a run that
  // ended with an error before.
  const std::vector<at::Tensor>& expected;
  GraphCheck check;
  const RunSettings& settings;
  const GraphMemory& memory;
  // A part of a graph would draw other random numbers than the whole one.
  const ReferenceWatch& reference;
  // The node that diverged and its value, where one did.
  std::optional<Divergence> divergence = std::nullopt;
  // Whether all values that were compared agree.
  bool nodes_agree = false;

  // Whether it failed by an error, and not by wrong values.
  bool threw() const { return expected.empty(); }
};

struct ReproducerSearch {
  std::optional<Reproducer> reproducer = std::nullopt;
  // Why there is none, or why it is not what one would think: sentences; may be empty.
  std::string note = {};
};

// Writes the files of the reproducer, if there is one, to `directory`, which is made then. It is
// the whole graph where no smaller part fails by itself, and there is none where the whole graph,
// run again, does not fail either. Throws OutputError for files that can not be written.
ReproducerSearch find_reproducer(const FailedRun& failed, const std::string& directory);

// The smallest part of a run that ended its process, where there is one that is smaller than the
// whole graph, as files in `directory`. The check runs in a process of its own. Throws OutputError.
ReproducerSearch find_part_that_ends(const FailedRun& failed, const std::string& directory);

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
