// What a worker does for the runner: all stages of a candidate, or the search for a reproducer of a
// candidate that ended its process. Errors of a stage go into the result; the runner handles
// crashes.
#pragma once

#include <optional>
#include <string>

#include "harness/divergence/ended_process.h"
#include "harness/process/worker.h"
#include "harness/results/model_files.h"
#include "harness/results/result.h"
#include "harness/results/result_fields.h"
#include "harness/run/tolerances.h"

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
TORCH_IR_FIELDS(ReproducerSearch, reproducer, note)
TORCH_IR_FIELDS(RunRequest, source, directory, backend_directory, reproduces, agreed)

// The file of the graph.
inline constexpr const char* kGraphFile = "/graph.json";

// Answers with the result. The news before each stage, trial and step of an explanation is the
// result so far; of a single call, it is the number of stages that it passed. Where it only makes a
// reproducer, answer and news are a ReproducerSearch.
inline constexpr const char* kRunTask = "run";
DoRequest run_task(const WorkJson& setup);

}  // namespace torch_ir
