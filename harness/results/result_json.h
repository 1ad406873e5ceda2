// Results as JSON text: how the process that ran a model hands them to the one that reports.
#pragma once

#include <string>
#include <string_view>

#include "harness/results/result.h"
#include "harness/selection/model_files.h"

namespace torch_ir {

// One model to run, and how.
struct RunRequest {
  ModelSource source = {};
  RunSettings settings = {};
  // With a trial, nothing is executed: the whole graph is written as what reproduces a failure on
  // the inputs of that trial.
  std::optional<int> reproduces_trial = std::nullopt;
};

std::string to_json(const RunRequest& request);
std::string to_json(const ModelResult& result);

// The inverses. Throw Error when `text` is something else.
RunRequest run_request_from_json(std::string_view text);
ModelResult model_result_from_json(std::string_view text);

}  // namespace torch_ir
