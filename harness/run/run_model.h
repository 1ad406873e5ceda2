// run_model: all stages of one model, in this process.
//
// Called in the child process that the runner starts for each model. What goes wrong in a stage
// is part of the result; a crash is the parent's to see.
#ifndef TORCH_IR_HARNESS_RUN_RUN_MODEL_H_
#define TORCH_IR_HARNESS_RUN_RUN_MODEL_H_

#include <functional>
#include <string>

#include "torch_ir/harness/results/result.h"
#include "torch_ir/harness/stages/candidate.h"

namespace torch_ir {

// Runs `candidate` with `settings`, whose tolerance is the one in effect, and leaves its files in
// `directory`: ir.json, graph.json (the graph of the result, which itself stays without), those of
// save_tensors for the worst trial when the settings ask for them, and repro/ as explain makes it.
// `result` is what is known of it already. `on_progress` gets the
// result so far before each stage. Throws OutputError.
ModelResult run_model(Candidate& candidate, ModelResult result, const RunSettings& settings,
                      const std::string& directory,
                      const std::function<void(const ModelResult&)>& on_progress);

}  // namespace torch_ir

#endif  // TORCH_IR_HARNESS_RUN_RUN_MODEL_H_
