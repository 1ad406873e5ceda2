#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harness/results/json_text.h"
#include "harness/results/result_fields.h"
#include "harness/results/results_file.h"
#include "harness/results/results_format.h"
#include "harness/results/run_context.h"

namespace torch_ir {
namespace {

using json_fields::Json;
using json_fields::write;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? write(*value) : Json();
}

Json write_coverage(const Coverage& coverage) {
  Json archives = Json::array();
  Json graphs = Json::array();
  for (const ModelFilesArgument& files : coverage.files) {
    const bool is_graph = files.format == FileFormat::kGraph;
    Origin origin{.inputs = file_name(files.inputs), .expected = file_name(files.expected)};
    (is_graph ? origin.graph : origin.archive) = files.short_name();
    (is_graph ? graphs : archives).push_back(write(origin));
  }
  return {{"registry", coverage.registry},
          {"models", write(coverage.selection.models)},
          {"categories", write(coverage.selection.categories)},
          {"archives", archives},
          {"graphs", graphs},
          {"num_registered", coverage.num_registered},
          {"num_archives", coverage.num_archives},
          {"num_graphs", coverage.num_graphs}};
}

Json write_totals(const std::vector<ModelRecord>& models) {
  Json status = Json::object();
  for (const Status value : kStatuses) status[std::string(status_name(value))] = 0;
  Json failure = Json::object();
  for (const FailureKind kind : kFailureKinds) failure[std::string(failure_kind_name(kind))] = 0;
  const auto count = [](Json& counts, std::string_view name) {
    Json& number = counts[std::string(name)];
    number = number.get<int64_t>() + 1;
  };
  for (const ModelRecord& model : models) {
    count(status, status_name(model.status));
    if (model.failure) count(failure, failure_kind_name(*model.failure));
  }
  return {{"models", models.size()}, {"status", status}, {"failure", failure}};
}

Json write_trial(const Trial& trial, const DifferenceFigures& differences) {
  Json verification = write(trial.verification);
  Json json = {{"name", trial.name},
               {"passed", trial.verification.is_valid},
               {"max_diff", or_null(differences.max_diff)},
               {"mean_diff", differences.max_diff ? verification["mean_diff"] : Json()},
               {"smallest_passing_tolerance", or_null(differences.smallest_passing_tolerance)},
               {"message", trial.verification.error_message},
               {"tolerance", verification["tolerance"]}};
  if (verification.contains("optimization")) json["optimization"] = verification["optimization"];
  json["outputs"] = std::move(verification["outputs"]);
  return json;
}

// Relative to the folder of the file; null for what the run did not leave.
Json write_files(const ModelResult& result, bool has_picture) {
  const auto path = [](bool is_there, const std::string& name) {
    return is_there ? Json(name) : Json();
  };
  const bool has_ir = result.num_passed_stages > static_cast<size_t>(Stage::kSerialize);
  return {{"page", result.name + ".md"},
          {"ir", path(has_ir, "ir/" + result.name + ".json")},
          {"svg", path(has_picture, "svg/" + result.name + ".svg")},
          {"reproducer", path(result.reproducer.has_value(), "repro/" + result.name)}};
}

Json write_model(const ModelResult& result, const ModelRecord& record, const RunContext& context,
                 bool has_picture) {
  const auto of_graph = [&](auto member) {
    return record.graph ? write((*record.graph).*member) : Json();
  };
  const Trial* worst = result.worst_trial();
  const DifferenceFigures differences = difference_figures(result);
  Json trials = Json::array();
  for (size_t i = 0; i < result.trials.size(); ++i) {
    trials.push_back(write_trial(result.trials[i], record.trials[i].differences));
  }
  Json json = {
      {"name", result.name},
      {"description", result.description},
      {"categories", write(result.categories)},
      {"origin", or_null(result.origin)},
      {"status", status_name(record.status)},
      {"stage", stage_name(record.stage)},
      {"failure", or_null(result.failure)},
      {"expected_failure", or_null(result.expected_failure)},
      {"nodes", of_graph(&GraphFigures::nodes)},
      {"edges", of_graph(&GraphFigures::edges)},
      {"weights", of_graph(&GraphFigures::weights)},
      {"parameters", of_graph(&GraphFigures::parameters)},
      {"fingerprint", of_graph(&GraphFigures::fingerprint)},
      {"max_diff", or_null(differences.max_diff)},
      {"smallest_passing_tolerance", or_null(differences.smallest_passing_tolerance)},
      {"worst_trial", worst != nullptr ? Json(worst->name) : Json()},
      {"trials", trials},
      {"node_report", or_null(result.nodes)},
      {"reproducer", or_null(result.reproducer)},
      {"files", write_files(result, record.graph && has_picture)},
  };
  if (context.timings) json["stage_seconds"] = write(result.stage_seconds);
  return json;
}

Json write_figure(const FigureChange::Figure& figure) {
  return std::visit([](const auto& value) { return write(value); }, figure);
}

Json write_baseline(const BaselineComparison& comparison) {
  Json json = {{"notes", write(comparison.notes)}, {"compared", comparison.num_compared}};
  for (const Trend trend : kTrends) json[std::string(trend_name(trend))] = comparison.count(trend);
  Json models = Json::array();
  for (const ModelChange& model : comparison.models) {
    Json changes = Json::array();
    for (const FigureChange& change : model.changes) {
      changes.push_back({{"what", change.what},
                         {"before", write_figure(change.before)},
                         {"now", write_figure(change.now)},
                         {"trend", trend_name(change.trend)},
                         {"details", write(change.details)}});
    }
    models.push_back(
        {{"name", model.model}, {"trend", trend_name(model.trend)}, {"changes", changes}});
  }
  json["models"] = models;
  return json;
}

// What may differ between machines, of a value and of a difference that is not 0.
constexpr const char* kStatistics[] = {"min", "max", "mean", "standard_deviation"};
constexpr const char* kDifferences[] = {"max_diff",
                                        "mean_diff",
                                        "max_relative_diff",
                                        "root_mean_square_diff",
                                        "cosine_similarity",
                                        "signal_to_noise",
                                        "max_ulp_diff",
                                        "histogram",
                                        "num_mismatched",
                                        "worst_index",
                                        "worst_actual",
                                        "worst_expected",
                                        "smallest_passing_tolerance",
                                        "worst_trial"};

template <size_t N>
void replace(Json& object, const char* const (&keys)[N]) {
  for (const char* key : keys) {
    if (object.contains(key)) object[key] = kWithinTolerance;
  }
}

void make_portable(Json& json) {
  for (Json& item : json) {
    if (item.is_structured()) make_portable(item);
  }
  if (!json.is_object()) return;
  if (json.contains("standard_deviation")) replace(json, kStatistics);
  if (json.contains("max_diff") && !json["max_diff"].is_null() && json["max_diff"] != 0) {
    replace(json, kDifferences);
  }
  // Which values differ at all, and most, in a node report.
  if (json.contains("num_compared")) json["worst"] = Json::array();
}

}  // namespace

std::string results_to_json(const std::vector<ModelResult>& results, const RunResults& run,
                            const RunContext& context, const BaselineComparison* baseline,
                            const std::set<std::string>& without_picture) {
  std::string command = reproduce_command(run.coverage, context);
  while (command.ends_with('\n')) command.pop_back();
  Json environment = Json::object();
  for (const auto& [name, value] : run.environment) environment[name] = value;
  Json json = {{"format", kResultsFormat},
               {"version", kResultsVersion},
               {"command", command},
               {"environment", environment},
               {"settings", write(run.settings)},
               {"coverage", write_coverage(run.coverage)},
               {"totals", write_totals(run.models)}};
  Json models = Json::array();
  for (size_t i = 0; i < results.size(); ++i) {
    const bool has_picture = !without_picture.contains(results[i].name);
    Json model = write_model(results[i], run.models[i], context, has_picture);
    if (context.portable) make_portable(model);
    models.push_back(std::move(model));
  }
  json["models"] = std::move(models);
  if (baseline != nullptr) json["baseline"] = write_baseline(*baseline);
  return json_text(json);
}

}  // namespace torch_ir
