// RunResults: what two runs of the harness are compared by.
//
// Made from the results of this run, or read from the results.json of an earlier one
// (results_file.h); compared by baseline.h. Plain data.
#ifndef TORCH_IR_HARNESS_RESULTS_RUN_RESULTS_H_
#define TORCH_IR_HARNESS_RESULTS_RUN_RESULTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/harness/results/difference_figures.h"
#include "torch_ir/harness/results/environment.h"
#include "torch_ir/harness/results/result.h"
#include "torch_ir/harness/results/run_context.h"

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

#endif  // TORCH_IR_HARNESS_RESULTS_RUN_RESULTS_H_
