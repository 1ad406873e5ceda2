// The fields of results, in results.json and between processes (results_format.md).
#pragma once

#include <string>

#include "harness/results/baseline.h"
#include "harness/results/result.h"
#include "torch_ir/cases/case_fields.h"
#include "torch_ir/ir/json_fields.h"
#include "torch_ir/runtime/graph/execution_options.h"

namespace torch_ir {

template <>
inline void json_fields::read(const Json& json, ExecutorMetric& value) {
  expect(json.is_number() || json.is_string(), "a number or text", json);
  read_variant<0>(json, value);
}

// A word alone is the place (executor_protocol.md).
template <>
inline void json_fields::read(const Json& json, ExecutorNode& value) {
  if (json.is_string()) return read(json, value.place);
  expect(json.is_object(), "a place or an object", json);
  const auto seconds = json.find("seconds");
  if (seconds != json.end() && !seconds->is_null() &&
      !(seconds->is_number() && seconds->get<double>() >= 0)) {
    throw Problem{"expected a number, 0 or more, found " + printable(seconds->dump()), "/seconds"};
  }
  fields(Reader{json}, value);
}

template <>
inline constexpr Naming kNaming<FileFormat>{format_name, parse_name<kFileFormats, format_name>};
template <>
inline constexpr Naming kNaming<Stage>{stage_name, parse_name<kStages, stage_name>};
template <>
inline constexpr Naming kNaming<Status>{status_name, parse_name<kStatuses, status_name>};
template <>
inline constexpr Naming kNaming<FailureKind>{failure_kind_name, parse_failure_kind};
template <>
inline constexpr Naming kNaming<ReferenceKind>{reference_name, parse_reference};
template <>
inline constexpr Naming kNaming<Basis>{basis_name, parse_name<kBases, basis_name>};
template <>
inline constexpr Naming kNaming<Arithmetic>{arithmetic_name, parse_arithmetic};
template <>
inline constexpr Naming kNaming<LostValue::Kind>{lost_name, parse_name<kLostKinds, lost_name>};
template <>
inline constexpr Naming kNaming<Trend>{trend_name, nullptr};
template <>
inline constexpr Naming kNaming<Optimization>{optimization_name, parse_optimization};
template <>
inline constexpr Naming kNaming<Scale>{scale_name, parse_scale};
template <>
inline constexpr Naming kNaming<Suite>{suite_name, parse_suite};
template <>
inline constexpr Naming kNaming<c10::Device>{
    [](const c10::Device& device) { return device.str(); },
    [](const std::string& name) { return c10::Device(name); }};

template <class Visit>
void fields(const Visit& visit, CaseSource& source) {
  visit.required("case", source.info.name);
  visit.required("folder", source.folder);
}

TORCH_IR_FIELDS(ToleranceRule, fixed, by_dtype, outputs)
TORCH_IR_FIELDS(TensorComparison, is_close, mismatch, shape, dtype, max_diff, mean_diff,
                max_relative_diff, root_mean_square_diff, cosine_similarity, signal_to_noise,
                max_ulp_diff, histogram, num_nan, num_elements, num_mismatched, worst_index,
                worst_actual, worst_expected, smallest_passing_tolerance)

TORCH_IR_FIELDS(OwnError, rms_ratio, max_ratio, slope, mean, signal_to_noise, problem)
TORCH_IR_FIELDS(ValuePlace, index, node, op_type, value, module)
TORCH_IR_FIELDS(LostValue, place, kind)
TORCH_IR_FIELDS(NodeLoss, place, signal_to_noise, loss)
TORCH_IR_FIELDS(ArithmeticReport::Output, name, signal_to_noise, doubt, is_lost)

template <class Visit>
void fields(const Visit& visit, ArithmeticReport& value) {
  visit("compute_dtype", value.arithmetic);
  TORCH_IR_VISIT(has_executor, first_lost, outputs, losses, problem)
}

TORCH_IR_FIELDS(StepCounts, num_off_by_one, num_off_by_more)

template <class Visit>
void fields(const Visit& visit, ValueDetail& value) {
  TORCH_IR_VISIT(index, node, op_type, value, module, source, group, output, state, tolerance,
                 comparison, own_error, steps)
  visit("passed_by", value.basis);
  visit("problem", value.problem);
}

TORCH_IR_FIELDS(TensorStatistics, name, shape, dtype, num_elements, num_nan, num_inf, min, max,
                mean, standard_deviation)

TORCH_IR_FIELDS(Divergence, node, inputs, actual, expected)
TORCH_IR_FIELDS(NodeReport::Skipped, value, reason)
TORCH_IR_FIELDS(NodeError, index, max_diff, own_error)
TORCH_IR_FIELDS(NodeReport, tolerance, num_compared, num_right_locally, num_other_choices,
                num_mismatched, num_not_judged, not_judged, first_divergence, exonerated,
                num_exonerated, worst, errors, skipped, num_skipped, num_not_handed_back, unknown,
                num_unknown, groups, num_inside, error, note)
TORCH_IR_FIELDS(ExpectedFailure, kind, reason)

TORCH_IR_FIELDS(Threshold, place, signal_to_noise, cosine_similarity)

template <class Visit>
void fields(const Visit& visit, Trial& trial) {
  VerificationReport& report = trial.verification;
  DifferenceMetrics metrics = difference_metrics(report);
  std::optional<double> mean_diff;
  if (metrics.max_diff) mean_diff = report.mean_diff;
  visit.required("name", trial.name);
  visit("passed", report.is_valid);
  visit.nullable("max_diff", metrics.max_diff);
  visit.nullable("mean_diff", mean_diff);
  visit.nullable("smallest_passing_tolerance", metrics.smallest_passing_tolerance);
  visit("message", report.error_message);
  visit("tolerance", report.tolerance);
  visit("reference", report.criterion.reference);
  visit("error_factor", report.criterion.error_factor);
  visit("agreed", report.criterion.agreed);
  visit("passed_by", report.passed_by);
  visit("graph_problem", report.graph_problem);
  visit("graph_note", report.graph_note);
  visit("reference_note", report.reference_note);
  visit("rounded", report.rounded);
  visit("arithmetic", report.arithmetic);
  visit("optimization", report.optimization);
  visit("outputs", report.output_details);
  visit("not_compared", report.not_compared);
  if constexpr (Visit::kReads) {
    report.max_diff = metrics.max_diff.value_or(0);
    report.mean_diff = mean_diff.value_or(0);
  }
}

TORCH_IR_FIELDS(NotCounted, op_type, num_nodes, reason)
TORCH_IR_FIELDS(CostTotals, multiply_adds, not_counted, input_bytes, weight_bytes, largest_value,
                largest_bytes, peak_bytes, peak_node, num_unknown_sizes)

template <class Visit>
void graph_fields(const Visit& visit, Result& result) {
  const std::optional<GraphSummary> known = result.graph_summary();
  GraphSummary summary;
  for (const auto& [key, member] : kGraphFigures) {
    std::optional<int64_t> count;
    if (known) count = known->figures.*member;
    visit.nullable(key, count);
    summary.figures.*member = count.value_or(0);
  }
  std::optional<CostTotals> costs;
  std::optional<std::string> fingerprint;
  if (known) costs = known->costs;
  if (known) fingerprint = known->fingerprint;
  visit.nullable("costs", costs);
  visit.nullable("fingerprint", fingerprint);
  if constexpr (Visit::kReads) {
    if (!fingerprint) return;
    summary.costs = costs.value_or(CostTotals());
    summary.fingerprint = *fingerprint;
    result.summary = std::move(summary);
  }
}

// The files of a model, relative to the folder of results.json; null for missing ones.
inline json_fields::Json files_of(const Result& result) {
  const auto file = [&](bool is_there, const char* before, const char* behind) {
    return is_there ? json_fields::Json(before + result.name + behind) : json_fields::Json();
  };
  const bool has_graph = result.num_passed_stages > static_cast<size_t>(Stage::kSerialize);
  const bool has_picture = result.graph_summary() && result.picture_problem.empty();
  return {{"page", file(true, "", ".md")},
          {"ir", file(has_graph, "ir/", ".json")},
          {"svg", file(has_picture, "svg/", ".svg")},
          {"reproducer", file(result.reproducer.has_value(), "repro/", "")},
          {"values", file(result.has_values, "tensors/", ".values.safetensors")}};
}

template <class Visit>
void model_fields(const Visit& visit, Result& result) {
  visit("sizes", result.sizes);
  graph_fields(visit, result);
  if constexpr (!Visit::kReads) {
    const Trial* worst = result.worst_trial();
    visit.nullable("worst_trial", worst == nullptr ? std::optional<std::string>() : worst->name);
  }
  visit("kept_trial", result.kept_trial);
  visit("trials", result.trials);
  visit("not_tried", result.not_tried);
  visit.nullable("node_report", result.nodes);
  visit("against", result.against);
  visit.nullable("reproducer", result.reproducer);
  json_fields::Json files = files_of(result);
  visit("files", files);
  if constexpr (Visit::kReads) {
    result.has_values = files.contains("values") && files["values"].is_string();
  }
  visit("stage_seconds", result.stage_seconds);
  visit("is_searching", result.is_searching);
  visit("current_trial", result.current_trial);
  visit("current_trial_name", result.current_trial_name);
}

// All fields but the graph, which has its own file. Only messages between processes use
// `current_trial` and its name.
template <class Visit>
void fields(const Visit& visit, Result& result) {
  Status status = result.status();
  Stage stage = result.stage();
  DifferenceMetrics metrics = difference_metrics(result);
  visit.required("name", result.name);
  visit("description", result.description);
  visit.required("categories", result.categories);
  visit.nullable("origin", result.origin);
  visit("call", result.call);
  visit.required("status", status);
  visit.required("stage", stage);
  visit.nullable("failure", result.failure);
  visit.nullable("expected_failure", result.expected_failure);
  visit("unsupported", result.unsupported);
  visit.nullable("max_diff", metrics.max_diff);
  visit.nullable("smallest_passing_tolerance", metrics.smallest_passing_tolerance);
  visit("own_error", result.own_error);
  visit("passed_by", result.passed_by);
  visit("executor", result.executor);
  visit("varies", result.varies);
  if (Visit::kReads || !result.call) model_fields(visit, result);
  if constexpr (Visit::kReads) {
    const bool is_done = status == Status::kPassed || status == Status::kNotHeld ||
                         status == Status::kExtracted || status == Status::kUnexpectedPass;
    result.num_passed_stages = static_cast<size_t>(stage) + (is_done ? 1 : 0);
    if (result.trials.empty()) result.metrics = metrics;
  }
}

template <class Visit>
void fields(const Visit& visit, Coverage& coverage) {
  std::vector<ModelFiles> files;
  for (const ModelFiles& given : coverage.files) files.push_back(as_typed(given));
  visit("suite", coverage.selection.suite);
  visit("operators", coverage.selection.operators);
  visit("dtypes", coverage.selection.dtypes);
  visit("split", coverage.is_split);
  visit("interrupted", coverage.is_interrupted);
  visit("registry", coverage.registry);
  visit.required("models", coverage.selection.models);
  visit.required("categories", coverage.selection.categories);
  visit.required("files", files);
  visit("num_registered", coverage.num_registered);
  visit("num_archives", coverage.num_archives);
  visit("num_graphs", coverage.num_graphs);
  if constexpr (Visit::kReads) coverage.files = std::move(files);
}

template <class Visit>
void fields(const Visit& visit, FigureChange& change) {
  visit.derived("what", change.what);
  visit.derived("before", change.before);
  visit.derived("now", change.now);
  visit.derived("trend", change.trend);
  visit.derived("details", change.details);
}

template <class Visit>
void fields(const Visit& visit, ModelChange& change) {
  visit.derived("name", change.model);
  visit.derived("trend", change.trend);
  visit.derived("changes", change.changes);
}

template <class Visit>
void fields(const Visit& visit, BaselineComparison& comparison) {
  visit.derived("notes", comparison.notes);
  visit.derived("compared", comparison.num_compared);
  visit.derived("cases_compared", comparison.num_cases);
  for (const Trend trend : kTrends) {
    visit.derived(trend_name(trend).data(), comparison.count(trend));
  }
  visit.derived("models", comparison.models);
}

}  // namespace torch_ir
