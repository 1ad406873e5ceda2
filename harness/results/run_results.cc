#include "harness/results/run_results.h"

#include "harness/results/run_context.h"

namespace torch_ir {
namespace {

GraphFigures graph_figures(const GraphSummary& summary) {
  const IRSummary& figures = summary.figures;
  return {.nodes = figures.num_nodes,
          .edges = figures.num_edges,
          .weights = figures.num_weights,
          .parameters = figures.total_parameters,
          .fingerprint = summary.fingerprint};
}

}  // namespace

ModelRecord model_record(const ModelResult& result) {
  ModelRecord record{.name = result.name,
                     .categories = result.categories,
                     .is_imported = result.origin.has_value(),
                     .status = result.status(),
                     .stage = kStages.at(std::min(result.num_passed_stages, kStages.size() - 1))};
  if (result.failure) {
    record.stage = result.failure->stage;
    record.failure = result.failure->kind;
  }
  if (const auto summary = result.graph_summary()) record.graph = graph_figures(*summary);
  for (const Trial& trial : result.trials) {
    record.trials.push_back(
        {.name = trial.name, .differences = difference_figures(trial.verification)});
  }
  return record;
}

RunResults run_results(const std::vector<ModelResult>& results, const Coverage& coverage,
                       const RunContext& context) {
  RunResults run{.settings = context.settings, .coverage = coverage};
  run.environment = context.portable ? Environment{{"libtorch", std::string(kVersionPlaceholder)}}
                                     : context.environment;
  for (const ModelResult& result : results) run.models.push_back(model_record(result));
  return run;
}

}  // namespace torch_ir
