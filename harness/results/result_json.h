// Results as JSON text: how the process that ran a model hands them to the one that reports.
#pragma once

#include <string>
#include <string_view>

#include "harness/results/result.h"
#include "harness/selection/model_files.h"

namespace torch_ir {

// A graph that ended its process, and what may be spent on looking for the smallest part of it that
// does so too.
struct EndedProcess {
  // Of which it ran on the inputs.
  int trial = 0;
  // crashed, timed out, or out of memory.
  FailureKind kind = FailureKind::kCrashed;
  // In seconds, for the whole search.
  double timeout = 0;
  // In bytes.
  std::optional<int64_t> memory_limit = std::nullopt;
};

// One model to run, and how.
struct RunRequest {
  ModelSource source = {};
  RunSettings settings = {};
  // With it, what reproduces that failure is looked for in place of a run.
  std::optional<EndedProcess> reproduces = std::nullopt;
};

std::string to_json(const RunRequest& request);
std::string to_json(const ModelResult& result);

// The inverses. Throw Error when `text` is something else.
RunRequest run_request_from_json(std::string_view text);
ModelResult model_result_from_json(std::string_view text);

}  // namespace torch_ir
