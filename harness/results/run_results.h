// RunResults: what two runs of the harness are compared by.
//
// Made from the results of this run, or read from the results.json of an earlier one
// (results_file.h); compared by baseline.h. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/difference_figures.h"
#include "harness/results/environment.h"
#include "harness/results/result.h"
#include "harness/results/run_context.h"

namespace torch_ir {

struct GraphFigures {
  int64_t nodes = 0;
  int64_t edges = 0;
  int64_t weights = 0;
  int64_t parameters = 0;
  std::string fingerprint = {};
};

struct TrialFigures {
  std::string name = {};
  DifferenceFigures differences = {};
};

struct ModelRecord {
  std::string name = {};
  std::vector<std::string> categories = {};
  // Whether it comes from files, and not from the registry.
  bool is_imported = false;
  Status status = Status::kFailed;
  // The one that failed, or the last one.
  Stage stage = Stage::kExtract;
  std::optional<FailureKind> failure = std::nullopt;
  std::optional<GraphFigures> graph = std::nullopt;
  std::vector<TrialFigures> trials = {};
};

struct RunResults {
  RunSettings settings = {};
  Coverage coverage = {};
  Environment environment = {};
  // In the order in which they ran.
  std::vector<ModelRecord> models = {};
};

RunResults run_results(const std::vector<ModelResult>& results, const Coverage& coverage,
                       const RunContext& context);

ModelRecord model_record(const ModelResult& result);

}  // namespace torch_ir
