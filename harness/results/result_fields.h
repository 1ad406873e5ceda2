// The fields of results, see json_fields.h.
#pragma once

#include "harness/results/json_fields.h"
#include "harness/results/result.h"
#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/ir/json.h"

namespace torch_ir {

// Types that are written by a name.
template <class Visit, class T, class Name, class Parse>
void named_field(const Visit& visit, const char* key, T& value, Name name, Parse parse) {
  std::string text(name(value));
  visit(key, text);
  if constexpr (std::is_same_v<Visit, json_fields::Reader>) value = parse(text);
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
  visit("num_elements", comparison.num_elements);
  visit("num_mismatched", comparison.num_mismatched);
  visit("worst_index", comparison.worst_index);
  visit("worst_actual", comparison.worst_actual);
  visit("worst_expected", comparison.worst_expected);
  visit("smallest_passing_tolerance", comparison.smallest_passing_tolerance);
}

template <class Visit>
void fields(const Visit& visit, OutputDetail& detail) {
  visit("index", detail.index);
  visit("name", detail.name);
  visit("tolerance", detail.tolerance);
  visit("comparison", detail.comparison);
}

template <class Visit>
void fields(const Visit& visit, VerificationReport& report) {
  visit("is_valid", report.is_valid);
  visit("max_diff", report.max_diff);
  visit("mean_diff", report.mean_diff);
  visit("error_message", report.error_message);
  visit("tolerance", report.tolerance);
  std::optional<std::string> level;
  if (report.optimization) level = optimization_name(*report.optimization);
  visit("optimization", level);
  if (level) report.optimization = parse_optimization(*level);
  visit("outputs", report.output_details);
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
void fields(const Visit& visit, NodeDetail& detail) {
  visit("index", detail.index);
  visit("node", detail.node);
  visit("op_type", detail.op_type);
  visit("value", detail.value);
  visit("comparison", detail.comparison);
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
void fields(const Visit& visit, NodeReport& report) {
  visit("tolerance", report.tolerance);
  visit("num_compared", report.num_compared);
  visit("num_mismatched", report.num_mismatched);
  visit("first_divergence", report.first_divergence);
  visit("first_nan", report.first_nan);
  visit("first_inf", report.first_inf);
  visit("worst", report.worst);
  visit("skipped", report.skipped);
  visit("num_skipped", report.num_skipped);
  visit("error", report.error);
  visit("note", report.note);
}

template <class Visit>
void fields(const Visit& visit, Failure& failure) {
  named_field(visit, "kind", failure.kind, failure_kind_name, parse_failure_kind);
  named_field(visit, "stage", failure.stage, stage_name, parse_stage);
  visit("message", failure.message);
  visit("output", failure.output);
}

template <class Visit>
void fields(const Visit& visit, ExpectedFailure& failure) {
  named_field(visit, "kind", failure.kind, failure_kind_name, parse_failure_kind);
  visit("reason", failure.reason);
}

template <class Visit>
void fields(const Visit& visit, Origin& origin) {
  visit("archive", origin.archive);
  visit("graph", origin.graph);
  visit("inputs", origin.inputs);
  visit("expected", origin.expected);
}

template <class Visit>
void fields(const Visit& visit, Trial& trial) {
  visit("name", trial.name);
  visit("verification", trial.verification);
}

template <class Visit>
void fields(const Visit& visit, Reproducer& reproducer) {
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
  visit("trials", settings.trials);
  visit("threads", settings.threads);
  named_field(visit, "optimization", settings.optimization, optimization_name, parse_optimization);
  named_field(
      visit, "device", settings.device, [](const c10::Device& device) { return device.str(); },
      [](const std::string& name) { return c10::Device(name); });
  visit("backend", settings.backend);
  visit("executor", settings.executor);
  visit("executor_intermediates", settings.executor_intermediates);
  named_field(visit, "last_stage", settings.last_stage, stage_name, parse_stage);
  visit("per_node", settings.per_node);
  visit("save_tensors", settings.save_tensors);
}

template <class Visit>
void fields(const Visit& visit, ModelResult& result) {
  visit("name", result.name);
  visit("description", result.description);
  visit("categories", result.categories);
  visit("origin", result.origin);
  visit("expected_failure", result.expected_failure);
  visit("num_passed_stages", result.num_passed_stages);
  visit("failure", result.failure);
  std::optional<std::string> graph;
  if (result.graph) graph = serialize_ir(*result.graph);
  visit("graph", graph);
  if (graph) result.graph = deserialize_ir(*graph);
  visit("trials", result.trials);
  visit("current_trial", result.current_trial);
  visit("nodes", result.nodes);
  visit("reproducer", result.reproducer);
  visit("stage_seconds", result.stage_seconds);
}

}  // namespace torch_ir
