// What a worker does for the runner: all stages of a candidate, or the search for a reproducer of a
// candidate that ended its process. Errors of a stage go into the result; the runner handles
// crashes.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "harness/divergence/ended_process.h"
#include "harness/process/worker.h"
#include "harness/results/model_files.h"
#include "harness/results/result.h"
#include "harness/results/result_fields.h"
#include "harness/run/tolerances.h"
#include "harness/stages/candidate.h"

namespace torch_ir {

struct RunRequest {
  ModelSource source = {};
  // Gets the files of the candidate, if it leaves any: ir.json, graph.json (the graph, which is not
  // in the result), the picture of the graph, the worst trial's tensors with save_tensors, the
  // values of the trial that failed, or else of the first, with save_values, and repro/ (explain).
  std::string directory = {};
  std::string backend_directory = {};
  // Only makes a reproducer.
  std::optional<EndedProcess> reproduces = std::nullopt;
  std::optional<AgreedTolerance> agreed = std::nullopt;
};

TORCH_IR_FIELDS(AgreedTolerance, name, line, tolerance, threshold)
TORCH_IR_FIELDS(EndedProcess, trial, kind, timeout, memory_limit)
TORCH_IR_FIELDS(RunRequest, source, directory, backend_directory, reproduces, agreed)

// The file of the graph.
inline constexpr const char* kGraphFile = "/graph.json";

// Answers with the result. The news before each stage, trial and step of an explanation is the
// result so far; of a single call, it is the number of stages that it passed.
inline constexpr const char* kRunTask = "run";
DoRequest run_task(const WorkJson& setup);

// Makes a reproducer of a run that ended its process in the stage execute, in repro/ of `directory`
// and in `result`, with a note in its nodes. Calls `on_progress` with the whole graph as reproducer
// before it searches for a smaller part. The caller fills in the message. Makes no reproducer if a
// file cannot hold its values. Throws OutputError, and all errors of Candidate::extract.
Result reproduce(Candidate& candidate, Result result, RunSettings settings,
                 const EndedProcess& ended, const std::string& directory,
                 const std::function<void(const Result&)>& on_progress);

}  // namespace torch_ir
