// run_model: all stages of one model, in this process.
//
// Called in the child process that the runner starts for each model. What goes wrong in a stage
// is part of the result; a crash is the parent's to see.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "harness/results/result.h"
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

// For a run that ended its process in the stage execute: the whole graph as what shows it, with the
// inputs of `trial`, in repro/ of `directory`. Nothing is executed. The message is the caller's to
// fill in. Nothing where a file can not hold what it takes. Throws OutputError, and what extracting
// throws.
std::optional<Reproducer> write_whole_graph(Candidate& candidate, const RunSettings& settings,
                                            int trial, const std::string& directory);

}  // namespace torch_ir
