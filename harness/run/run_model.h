// run_model: all stages of one model, in this process.
//
// Called in the child process that the runner starts for each model. What goes wrong in a stage
// is part of the result; a crash is the parent's to see.
#pragma once

#include <functional>
#include <string>

#include "harness/results/result.h"
#include "harness/results/result_json.h"
#include "harness/stages/candidate.h"

namespace torch_ir {

// Runs `candidate` with `settings`, whose tolerance is the one in effect, and leaves its files in
// `directory`: ir.json, graph.json (the graph of the result, which itself stays without), those of
// save_tensors for the worst trial when the settings ask for them, and repro/ as explain makes it.
// `result` is what is known of it already. `on_progress` gets the result so far before each stage,
// each trial, and each step of an explanation. Throws OutputError.
ModelResult run_model(Candidate& candidate, ModelResult result, const RunSettings& settings,
                      const std::string& directory,
                      const std::function<void(const ModelResult&)>& on_progress);

// For a run that ended its process in the stage execute: what shows that, in repro/ of `directory`
// and in `result`, with a note in its nodes. `on_progress` gets the result when it is the whole
// graph, before a smaller part is looked for. The message is the caller's to fill in. Nothing where
// a file can not hold what it takes. Throws OutputError, and what extracting throws.
ModelResult reproduce(Candidate& candidate, ModelResult result, const RunSettings& settings,
                      const EndedProcess& ended, const std::string& directory,
                      const std::function<void(const ModelResult&)>& on_progress);

}  // namespace torch_ir
