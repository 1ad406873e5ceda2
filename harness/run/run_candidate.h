// run_candidate: runs all stages of a candidate in this process, a worker. Errors of a stage go
// into the result; the supervisor handles crashes.
#pragma once

#include <functional>
#include <string>

#include "harness/backend/backend.h"
#include "harness/divergence/ended_process.h"
#include "harness/results/result.h"
#include "harness/stages/candidate.h"

namespace torch_ir {

// May make the backend on first use.
using GetBackend = std::function<Backend&()>;

// Runs candidate `name` with `settings`, using its own tolerances unless `settings` override them.
// Writes files to `directory`, if the candidate leaves any: ir.json, graph.json (the graph, which
// is not in the result), the worst trial's tensors with save_tensors, the values of the trial that
// failed, or else of the first, with save_values, and repro/ (see explain).
// Calls `on_progress` with the result so far before each stage, trial and step of an explanation.
// Throws OutputError, and InputError for files of the user that do not fit together.
Result run_candidate(Candidate& candidate, const std::string& name, RunSettings settings,
                     const GetBackend& backend, const std::string& directory,
                     const std::function<void(const Result&)>& on_progress);

// Makes a reproducer of a run that ended its process in the stage execute, in repro/ of `directory`
// and in `result`, with a note in its nodes. Calls `on_progress` with the whole graph as reproducer
// before it searches for a smaller part. The caller fills in the message. Makes no reproducer if a
// file cannot hold its values. Throws OutputError, and all errors of Candidate::extract.
Result reproduce(Candidate& candidate, Result result, RunSettings settings,
                 const EndedProcess& ended, const std::string& directory,
                 const std::function<void(const Result&)>& on_progress);

}  // namespace torch_ir
