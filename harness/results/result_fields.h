// The fields of results, in results.json and between processes (results_format.md).
#pragma once

#include <string>

#include "harness/results/baseline.h"
#include "harness/results/json_fields.h"
#include "harness/results/result.h"
#include "torch_ir/runtime/graph/execution_options.h"

namespace torch_ir {

template <>
inline constexpr Naming kNaming<Stage>{stage_name, parse_stage};
template <>
inline constexpr Naming kNaming<Status>{status_name, parse_status};
template <>
inline constexpr Naming kNaming<FailureKind>{failure_kind_name, parse_failure_kind};
template <>
inline constexpr Naming kNaming<ReferenceKind>{reference_name, parse_reference};
template <>
inline constexpr Naming kNaming<Basis>{basis_name, parse_basis};
template <>
inline constexpr Naming kNaming<Trend>{trend_name, nullptr};
template <>
inline constexpr Naming kNaming<Optimization>{optimization_name, parse_optimization};
template <>
inline constexpr Naming kNaming<Scale>{scale_name, parse_scale};
template <>
inline constexpr Naming kNaming<Suite>{suite_name, parse_suite};
template <>
inline constexpr Naming kNaming<CaseProperty>{property_name, parse_property};
template <>
inline constexpr Naming kNaming<c10::Device>{
    [](const c10::Device& device) { return device.str(); },
    [](const std::string& name) { return c10::Device(name); }};
template <>
inline constexpr Naming kNaming<FileFormat>{
    flag_of, [](const std::string& flag) {
      return flag == flag_of(FileFormat::kGraph) ? FileFormat::kGraph : FileFormat::kArchive;
    }};

template <class Visit>
void fields(const Visit& visit, ModelFiles& files) {
  visit.required("format", files.format);
  visit.required("name", files.name);
  visit.required("path", files.path);
  visit.required("weights", files.weights);
  visit.required("inputs", files.inputs);
  visit.required("expected", files.expected);
  visit("against", files.against);
}

template <class Visit>
void fields(const Visit& visit, CaseSource& source) {
  visit.required("case", source.info.name);
  visit.required("folder", source.folder);
}

template <class Visit>
void fields(const Visit& visit, Tolerance& tolerance) {
  visit("rtol", tolerance.rtol);
  visit("atol", tolerance.atol);
}

template <class Visit>
void fields(const Visit& visit, ToleranceRule& rule) {
  visit("fixed", rule.fixed);
  visit("by_dtype", rule.by_dtype);
  visit("outputs", rule.outputs);
}

template <class Visit>
void fields(const Visit& visit, TensorComparison& comparison) {
  visit("is_close", comparison.is_close);
  visit("mismatch", comparison.mismatch);
  visit("shape", comparison.shape);
  visit("dtype", comparison.dtype);
  visit("max_diff", comparison.max_diff);
  visit("mean_diff", comparison.mean_diff);
  visit("max_relative_diff", comparison.max_relative_diff);
  visit("root_mean_square_diff", comparison.root_mean_square_diff);
  visit("cosine_similarity", comparison.cosine_similarity);
  visit("signal_to_noise", comparison.signal_to_noise);
  visit("max_ulp_diff", comparison.max_ulp_diff);
  visit("histogram", comparison.histogram);
  visit("num_nan", comparison.num_nan);
  visit("num_elements", comparison.num_elements);
  visit("num_mismatched", comparison.num_mismatched);
  visit("worst_index", comparison.worst_index);
  visit("worst_actual", comparison.worst_actual);
  visit("worst_expected", comparison.worst_expected);
  visit("smallest_passing_tolerance", comparison.smallest_passing_tolerance);
}

template <class Visit>
void fields(const Visit& visit, SecondOpinion& opinion) {
  visit("executor_error", opinion.executor_error);
  visit("eager_error", opinion.eager_error);
  visit("executor_non_finite", opinion.executor_non_finite);
  visit("eager_non_finite", opinion.eager_non_finite);
  visit("factor", opinion.factor);
  visit.derived("verdict", opinion_text(opinion));
  visit("reason", opinion.reason);
}

template <class Visit>
void fields(const Visit& visit, OutputDetail& detail) {
  visit("index", detail.index);
  visit("name", detail.name);
  visit("tolerance", detail.tolerance);
  visit("comparison", detail.comparison);
  visit("second_opinion", detail.second_opinion);
  visit("passed_by", detail.basis);
}

template <class Visit>
void fields(const Visit& visit, RoundedValue& value) {
  visit("index", value.index);
  visit("node", value.node);
  visit("op_type", value.op_type);
  visit("value", value.value);
  visit("num_elements", value.num_elements);
  visit("num_off_by_one", value.num_off_by_one);
  visit("num_off_by_more", value.num_off_by_more);
  visit("num_wrong", value.num_wrong);
}

template <class Visit>
void fields(const Visit& visit, RoundingReport& report) {
  visit("values", report.values);
  visit("problem", report.problem);
}

template <class Visit>
void fields(const Visit& visit, TensorStatistics& statistics) {
  visit("name", statistics.name);
  visit("shape", statistics.shape);
  visit("dtype", statistics.dtype);
  visit("num_elements", statistics.num_elements);
  visit("num_nan", statistics.num_nan);
  visit("num_inf", statistics.num_inf);
  visit("min", statistics.min);
  visit("max", statistics.max);
  visit("mean", statistics.mean);
  visit("standard_deviation", statistics.standard_deviation);
}

template <class Visit>
void fields(const Visit& visit, ComparedValue& value) {
  visit("op_type", value.op_type);
  visit("module", value.module);
  visit("float", value.floating);
  visit("quantized", value.quantized);
  visit("sqnr", value.sqnr);
  visit("input_sqnr", value.input_sqnr);
  visit("num_saturated", value.num_saturated);
}

template <class Visit>
void fields(const Visit& visit, FloatComparison& comparison) {
  visit("file", comparison.file);
  visit.derived("num_compared", comparison.values.size());
  visit("values", comparison.values);
  visit("unmatched", comparison.unmatched);
  visit("num_unmatched", comparison.num_unmatched);
  visit("num_folded", comparison.num_folded);
  visit("error", comparison.error);
}

template <class Visit>
void fields(const Visit& visit, NodeDetail& detail) {
  visit("index", detail.index);
  visit("node", detail.node);
  visit("op_type", detail.op_type);
  visit("value", detail.value);
  visit("module", detail.module);
  visit("group", detail.group);
  visit("comparison", detail.comparison);
}

template <class Visit>
void fields(const Visit& visit, NodeOpinion& opinion) {
  visit("index", opinion.index);
  visit("node", opinion.node);
  visit("op_type", opinion.op_type);
  visit("value", opinion.value);
  visit("second_opinion", opinion.opinion);
}

template <class Visit>
void fields(const Visit& visit, Divergence& divergence) {
  visit("node", divergence.node);
  visit("inputs", divergence.inputs);
  visit("actual", divergence.actual);
  visit("expected", divergence.expected);
}

template <class Visit>
void fields(const Visit& visit, NonFinite& value) {
  visit("index", value.index);
  visit("node", value.node);
  visit("op_type", value.op_type);
  visit("value", value.value);
  visit("is_nan", value.is_nan);
  visit("is_expected", value.is_expected);
}

template <class Visit>
void fields(const Visit& visit, NodeReport::Skipped& skipped) {
  visit("value", skipped.value);
  visit("reason", skipped.reason);
}

template <class Visit>
void fields(const Visit& visit, NodeError& error) {
  visit("index", error.index);
  visit("max_diff", error.max_diff);
}

template <class Visit>
void fields(const Visit& visit, NodeReport& report) {
  visit("tolerance", report.tolerance);
  visit("num_compared", report.num_compared);
  visit("num_mismatched", report.num_mismatched);
  visit("first_divergence", report.first_divergence);
  visit("exonerated", report.exonerated);
  visit("num_exonerated", report.num_exonerated);
  visit("first_nan", report.first_nan);
  visit("first_inf", report.first_inf);
  visit("worst", report.worst);
  visit("errors", report.errors);
  visit("skipped", report.skipped);
  visit("num_skipped", report.num_skipped);
  visit("num_not_handed_back", report.num_not_handed_back);
  visit("unknown", report.unknown);
  visit("num_unknown", report.num_unknown);
  visit("num_groups", report.num_groups);
  visit("num_inside", report.num_inside);
  visit("opinions", report.opinions);
  visit("num_opinions", report.num_opinions);
  visit("num_without_opinion", report.num_without_opinion);
  visit("opinion_problem", report.opinion_problem);
  visit("error", report.error);
  visit("note", report.note);
}

template <class Visit>
void fields(const Visit& visit, Failure& failure) {
  visit("kind", failure.kind);
  visit("stage", failure.stage);
  visit("message", failure.message);
  visit("output", failure.output);
}

template <class Visit>
void fields(const Visit& visit, ExpectedFailure& failure) {
  visit("kind", failure.kind);
  visit("reason", failure.reason);
}

template <class Visit>
void fields(const Visit& visit, Origin& origin) {
  visit("archive", origin.archive);
  visit("graph", origin.graph);
  visit("inputs", origin.inputs);
  visit("expected", origin.expected);
  visit("against", origin.against);
}

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
  visit("passed_by", report.passed_by);
  visit("graph_problem", report.graph_problem);
  visit("graph_note", report.graph_note);
  visit("rounding", report.rounding);
  visit("optimization", report.optimization);
  visit("outputs", report.output_details);
  if constexpr (Visit::kReads) {
    report.max_diff = metrics.max_diff.value_or(0);
    report.mean_diff = mean_diff.value_or(0);
    // A portable file may hide all differences of an output.
    if (!metrics.smallest_passing_tolerance) report.output_details.clear();
  }
}

template <class Visit>
void fields(const Visit& visit, ExecutorReport& report) {
  visit("num_nodes", report.num_nodes);
  visit("on_host", report.on_host);
  visit("seconds", report.seconds);
}

template <class Visit>
void fields(const Visit& visit, Reproducer& reproducer) {
  visit("trial", reproducer.trial);
  visit("num_nodes", reproducer.num_nodes);
  visit("first_node", reproducer.first_node);
  visit("last_node", reproducer.last_node);
  visit("command", reproducer.command);
  visit("message", reproducer.message);
}

template <class Visit>
void fields(const Visit& visit, RunSettings& settings) {
  visit("seed", settings.seed);
  visit("tolerance", settings.tolerance);
  visit("tolerance_wins", settings.tolerance_wins);
  visit("reference", settings.criterion.reference);
  visit("error_factor", settings.criterion.error_factor);
  visit("trials", settings.trials);
  visit("threads", settings.threads);
  visit("optimization", settings.optimization);
  visit("device", settings.device);
  visit("backend", settings.backend);
  visit("executor", settings.executor);
  visit("executor_is_server", settings.executor_is_server);
  visit("executor_intermediates", settings.executor_intermediates);
  visit("scale", settings.scale);
  visit("last_stage", settings.last_stage);
  visit("per_node", settings.per_node);
  visit("save_tensors", settings.save_tensors);
}

template <class Visit>
void fields(const Visit& visit, SymbolSize& size) {
  visit("symbol", size.symbol);
  visit("value", size.value);
}

template <class Visit>
void fields(const Visit& visit, NotCounted& not_counted) {
  visit("op_type", not_counted.op_type);
  visit("num_nodes", not_counted.num_nodes);
  visit("reason", not_counted.reason);
}

template <class Visit>
void fields(const Visit& visit, CostTotals& costs) {
  visit("multiply_adds", costs.multiply_adds);
  visit("not_counted", costs.not_counted);
  visit("input_bytes", costs.input_bytes);
  visit("weight_bytes", costs.weight_bytes);
  visit("largest_value", costs.largest_value);
  visit("largest_bytes", costs.largest_bytes);
  visit("peak_bytes", costs.peak_bytes);
  visit("peak_node", costs.peak_node);
  visit("num_unknown_sizes", costs.num_unknown_sizes);
}

template <class Visit>
void count_field(const Visit& visit, const char* key, std::optional<int64_t>& count) {
  visit.nullable(key, count);
  if (count.value_or(0) >= 0) return;
  throw json_fields::Problem{fmt::format("expected a count, found {}", *count),
                             fmt::format("/{}", key)};
}

template <class Visit>
void graph_fields(const Visit& visit, Result& result) {
  std::optional<std::string> fingerprint;
  std::optional<int64_t> nodes, edges, weights, parameters;
  std::optional<CostTotals> costs;
  if (const auto known = result.graph_summary()) {
    fingerprint = known->fingerprint;
    nodes = known->figures.num_nodes;
    edges = known->figures.num_edges;
    weights = known->figures.num_weights;
    parameters = known->figures.total_parameters;
    costs = known->costs;
  }
  count_field(visit, "nodes", nodes);
  count_field(visit, "edges", edges);
  count_field(visit, "weights", weights);
  count_field(visit, "parameters", parameters);
  visit.nullable("costs", costs);
  visit.nullable("fingerprint", fingerprint);
  if constexpr (Visit::kReads) {
    if (!fingerprint) return;
    GraphSummary& summary = result.summary.emplace(GraphSummary{.fingerprint = *fingerprint});
    summary.figures.num_nodes = nodes.value_or(0);
    summary.figures.num_edges = edges.value_or(0);
    summary.figures.num_weights = weights.value_or(0);
    summary.figures.total_parameters = parameters.value_or(0);
    summary.costs = costs.value_or(CostTotals());
  }
}

// Returns the files of a model, relative to the folder of results.json; null for missing ones.
inline json_fields::Json files_of(const Result& result) {
  const auto path = [](bool is_there, const std::string& name) {
    return is_there ? json_fields::Json(name) : json_fields::Json();
  };
  const bool has_ir = result.num_passed_stages > static_cast<size_t>(Stage::kSerialize);
  const bool has_picture = result.graph_summary() && result.picture_problem.empty();
  return {{"page", result.name + ".md"},
          {"ir", path(has_ir, "ir/" + result.name + ".json")},
          {"svg", path(has_picture, "svg/" + result.name + ".svg")},
          {"reproducer", path(result.reproducer.has_value(), "repro/" + result.name)}};
}

template <class Visit>
void fields(const Visit& visit, CaseOccurrence& occurrence) {
  visit.required("model", occurrence.model);
  visit.required("node", occurrence.node);
  visit("module", occurrence.module);
  visit("source", occurrence.source);
}

template <class Visit>
void fields(const Visit& visit, CaseInfo& info) {
  visit.required("name", info.name);
  visit.required("operator", info.op_type);
  visit("category", info.category);
  visit("dtype", info.dtype);
  visit("note", info.note);
  visit("compare", info.property);
  visit("tolerance", info.tolerance);
  visit("tolerance_reason", info.tolerance_reason);
  visit("occurrences", info.occurrences);
}

template <class Visit>
void fields(const Visit& visit, CallInfo& call) {
  visit.required("operator", call.op_type);
  visit.required("dtype", call.dtype);
  visit("occurrences", call.occurrences);
}

template <class Visit>
void model_fields(const Visit& visit, Result& result) {
  visit("sizes", result.sizes);
  graph_fields(visit, result);
  if constexpr (!Visit::kReads) {
    const Trial* worst = result.worst_trial();
    visit.nullable("worst_trial", worst == nullptr ? std::optional<std::string>() : worst->name);
  }
  visit("trials", result.trials);
  visit.nullable("node_report", result.nodes);
  visit("against", result.against);
  visit.nullable("reproducer", result.reproducer);
  visit.derived("files", files_of(result));
  visit("stage_seconds", result.stage_seconds);
  visit("current_trial", result.current_trial);
}

// All fields but the graph, which has its own file. Only messages between processes use
// `current_trial`.
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
  if constexpr (!Visit::kReads) visit.nullable("worst_factor", worst_factor(result));
  visit("second_opinion", result.second_opinion);
  visit("passed_by", result.passed_by);
  visit("executor", result.executor);
  if (Visit::kReads || !result.call) model_fields(visit, result);
  if constexpr (Visit::kReads) {
    const bool is_done = status == Status::kPassed || status == Status::kPassedOutputs ||
                         status == Status::kExtracted || status == Status::kUnexpectedPass;
    result.num_passed_stages = static_cast<size_t>(stage) + (is_done ? 1 : 0);
    if (result.trials.empty()) result.metrics = metrics;
  }
}

template <class Visit>
void fields(const Visit& visit, Coverage& coverage) {
  std::vector<Origin> archives;
  std::vector<Origin> graphs;
  for (const ModelFiles& files : coverage.files) {
    (files.format == FileFormat::kGraph ? graphs : archives).push_back(origin_of(files));
  }
  visit("suite", coverage.selection.suite);
  visit("operators", coverage.selection.operators);
  visit("dtypes", coverage.selection.dtypes);
  visit("split", coverage.is_split);
  visit("groups", coverage.is_grouped);
  visit("interrupted", coverage.is_interrupted);
  visit("registry", coverage.registry);
  visit.required("models", coverage.selection.models);
  visit.required("categories", coverage.selection.categories);
  visit.required("archives", archives);
  visit("graphs", graphs);
  visit("num_registered", coverage.num_registered);
  visit("num_archives", coverage.num_archives);
  visit("num_graphs", coverage.num_graphs);
  if constexpr (Visit::kReads) {
    coverage.files.clear();
    const auto add = [&](const Origin& origin, FileFormat format, const std::string& path) {
      coverage.files.push_back({.format = format,
                                .path = path,
                                .inputs = origin.inputs,
                                .expected = origin.expected,
                                .against = origin.against});
    };
    for (const Origin& origin : archives) add(origin, FileFormat::kArchive, origin.archive);
    for (const Origin& origin : graphs) add(origin, FileFormat::kGraph, origin.graph);
  }
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
