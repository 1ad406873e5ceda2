// judge_run: whether the outputs of a run are right, and whether its graph is.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "torch_ir/runtime/graph/case.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {

// A run to judge by the expected outputs of its case.
struct GraphRun {
  Case graph_case;
  const std::vector<at::Tensor>& outputs;
  // Runs another graph on the same tensors in the way that computed `outputs`. If it is null,
  // rounded values are not checked.
  std::function<std::vector<at::Tensor>(const Case&)> rerun = nullptr;
  // The outputs of the case by eager operators. If it is null, the graph is not checked.
  std::function<std::vector<at::Tensor>()> run_eagerly = nullptr;
  // Describes an exception of these two in one line; needed with either. May rethrow it.
  std::function<std::string(const std::exception&)> describe = nullptr;
  // Whether to check the graph even if the tolerance alone shows that it matches the model.
  bool proves_graph = false;
  // JudgeOptions::inside.
  std::vector<std::string> inside = {};
};

// Judges the outputs, skipping those that nothing is expected of, and state that was not returned.
//
// Outputs within the tolerance of the model's need no lane, unless the criterion is kFloat64. If
// the graph rounds, the run is repeated with the values that it rounds as outputs, and judged
// whole: a difference in a last digit may have become a step on the way.
//
// The model is judged as the run is: its outputs have to be what the graph makes of the inputs. So
// a graph is refused that does not match its model.
VerificationReport judge_run(const GraphRun& run, const ToleranceRule& tolerance,
                             const Criterion& criterion);

}  // namespace torch_ir
