// run_candidate: all stages of one candidate, in this process.
//
// Called in a worker. What goes wrong in a stage is part of the result; a crash is the supervisor's
// to see.
#pragma once

#include <functional>
#include <string>

#include "harness/backend/backend.h"
#include "harness/divergence/ended_process.h"
#include "harness/results/result.h"
#include "harness/stages/candidate.h"

namespace torch_ir {

// Gives the backend, which it may make when it is first asked for it.
using GetBackend = std::function<Backend&()>;

// Runs the candidate called `name` with `settings`, and its own tolerances where these are not
// asked for, and leaves its files in `directory`: ir.json, graph.json (the graph of the result,
// which itself stays without), those of save_tensors for the worst trial when the settings ask for
// them, and repro/ as explain makes it; of a single call, none. `on_progress` gets the result so
// far before each stage, each trial, and each step of an explanation. Throws OutputError.
Result run_candidate(Candidate& candidate, const std::string& name, RunSettings settings,
                     const GetBackend& backend, const std::string& directory,
                     const std::function<void(const Result&)>& on_progress);

// For a run that ended its process in the stage execute: what shows that, in repro/ of `directory`
// and in `result`, with a note in its nodes. `on_progress` gets the result when it is the whole
// graph, before a smaller part is looked for. The message is the caller's to fill in. Nothing where
// a file cannot hold what it takes. Throws OutputError, and what extracting throws.
Result reproduce(Candidate& candidate, Result result, RunSettings settings,
                 const EndedProcess& ended, const std::string& directory,
                 const std::function<void(const Result&)>& on_progress);

}  // namespace torch_ir
