// find_reproducer: the smallest part of a graph, as far as a search can tell, that fails by itself.
//
// A part is given what the model computes before it, and runs on the very backend that failed. The
// search starts from the node that diverged and grows backwards, by doubling, until the part fails;
// then it shrinks from both ends. So it finds as well what goes wrong only when nodes run together,
// while each of them alone is right.
#ifndef TORCH_IR_HARNESS_DIVERGENCE_REPRODUCER_H_
#define TORCH_IR_HARNESS_DIVERGENCE_REPRODUCER_H_

#include <ATen/core/Tensor.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "torch_ir/executor/graph_memory.h"
#include "torch_ir/harness/backend/backend.h"
#include "torch_ir/harness/divergence/graph_part.h"
#include "torch_ir/harness/results/result.h"
#include "torch_ir/harness/stages/candidate.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/verifier/node_report.h"

namespace torch_ir {

// What failed, and what is known of it. All that it refers to outlives it.
struct FailedRun {
  Candidate& candidate;
  const IR& ir;
  const StateDict& weights;
  const std::vector<at::Tensor>& inputs;
  Backend& backend;
  const RunSettings& settings;
  const GraphMemory& memory;
  // Of the values that the model told.
  ValueShapes shapes = {};
  // Nodes that drew random numbers: a part of a graph would draw others.
  std::set<size_t> random_nodes = {};
  // The node that diverged and its value, where one did.
  std::optional<Divergence> divergence = std::nullopt;
  // Whether it failed by an error, and not by wrong values.
  bool threw = false;
};

struct ReproducerSearch {
  std::optional<Reproducer> reproducer = std::nullopt;
  // Why there is none; empty when there is.
  std::string note = {};
};

// Writes the files of the reproducer, if there is one, to `directory`, which is made then. Throws
// OutputError for files that can not be written, and what the model throws.
ReproducerSearch find_reproducer(const FailedRun& failed, const std::string& directory);

}  // namespace torch_ir

#endif  // TORCH_IR_HARNESS_DIVERGENCE_REPRODUCER_H_
