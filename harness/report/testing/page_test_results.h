// Hand-made results for tests of the reports.
#pragma once

#include <gmock/gmock.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "harness/report/pages.h"
#include "harness/results/result.h"
#include "harness/results/run_context.h"

namespace torch_ir {

inline void expect_in(const std::string& page, std::initializer_list<const char*> texts) {
  for (const char* text : texts) EXPECT_THAT(page, ::testing::HasSubstr(text));
}

inline TensorMeta value_of(const std::string& name, std::vector<int64_t> shape) {
  TensorMeta meta;
  meta.name = name;
  meta.shape = std::move(shape);
  meta.dtype = "float32";
  return meta;
}

// y = x + w, with attributes.
inline IR tiny_graph() {
  IR ir;
  ir.model_name = "Tiny";
  ir.pytorch_version = "2.13.0";
  ir.graph_inputs = {value_of("x", {1, 2})};
  ir.graph_outputs = {value_of("add", {1, 2})};
  ir.weights = {value_of("w", {1200}), value_of("mask", {2})};
  ir.weight_name_mapping.insert("p_w", "w");
  ir.weight_name_mapping.insert("c_mask", "mask");
  OpNode& node = ir.nodes.emplace_back();
  node.name = "add";
  node.op_type = "aten.add.Tensor";
  node.inputs = {value_of("x", {1, 2}), value_of("p_w", {1200})};
  node.inputs[0].producer_node = "x";
  node.outputs = {value_of("add", {1, 2})};
  node.attrs.set("alpha", Attribute(2));
  node.attrs.set("flag", Attribute(true));
  return ir;
}

// "Tiny", which passes: one node, "add", and an output that differs by at most `max_diff`.
inline Result make_result(double max_diff = 0) {
  Result result{.name = "Tiny", .description = "One | add", .categories = {"a", "b_c"}};
  result.num_passed_stages = kStages.size();
  result.graph = tiny_graph();
  VerificationReport& report = result.trials.emplace_back().verification;
  report.is_valid = true;
  report.passed_by = result.passed_by = Basis::kTolerance;
  report.max_diff = max_diff;
  report.mean_diff = max_diff / 2;
  report.tolerance.fixed = {.rtol = 1e-4, .atol = 1e-4};
  ValueDetail& detail = report.output_details.emplace_back();
  detail.value = "add";
  detail.output = 0;
  detail.basis = Basis::kTolerance;
  detail.comparison.is_close = true;
  detail.comparison.max_diff = max_diff;
  detail.comparison.mean_diff = max_diff / 2;
  detail.comparison.num_elements = 2048;
  detail.comparison.smallest_passing_tolerance = max_diff / 4;
  if (max_diff != 0) {
    detail.comparison.worst_index = {0, 1};
    detail.comparison.worst_actual = "1.5";
    detail.comparison.worst_expected = "1.25";
  }
  return result;
}

// "Broken", which could not be extracted.
inline Result make_failure() {
  Result result{.name = "Broken", .description = "", .categories = {"a"}};
  result.failure = Failure{
      .stage = Stage::kExtract, .message = "aten::item | needs data\nmore", .output = "stderr"};
  return result;
}

// "Off", whose second trial is outside the tolerance.
inline Result make_mismatch() {
  Result result = make_result(2.5e-7);
  result.name = "Off";
  result.num_passed_stages = 3;
  result.failure = Failure{.kind = FailureKind::kOutputMismatch,
                           .stage = Stage::kVerify,
                           .message = "output 'add' differs"};
  result.trials[0].name = "normal values";
  Trial& trial = result.trials.emplace_back(result.trials[0]);
  trial.name = "large magnitudes";
  VerificationReport& report = trial.verification;
  report.is_valid = false;
  report.error_message = result.failure->message;
  report.max_diff = 0.5;
  ValueDetail& detail = report.output_details[0];
  detail.tolerance = {.rtol = 1e-3, .atol = 1e-3};
  report.tolerance.outputs[0] = detail.tolerance;
  TensorComparison& c = detail.comparison;
  c.is_close = false;
  c.dtype = "float32";
  c.max_diff = 0.5;
  c.root_mean_square_diff = 0.125;
  c.max_relative_diff = 2;
  c.cosine_similarity = 0.75;
  c.signal_to_noise = 12.5;
  c.max_ulp_diff = 4096;
  c.num_mismatched = 12;
  c.histogram[0] = 2000;
  c.histogram[12] = 48;
  c.smallest_passing_tolerance = 0.25;
  return result;
}

// The node report of "Off".
inline NodeReport make_nodes() {
  NodeReport nodes;
  nodes.num_compared = 8;
  nodes.num_mismatched = 2;
  nodes.num_skipped = 1;
  nodes.skipped.push_back({.value = "fused", .reason = "the backend | lacks it"});
  ValueDetail detail{.index = 3, .node = "add", .op_type = "aten.add.Tensor", .value = "add"};
  detail.comparison = make_mismatch().trials[1].verification.output_details[0].comparison;
  detail.problem = "outside the tolerance";
  nodes.worst.push_back(detail);
  Divergence& divergence = nodes.first_divergence.emplace();
  divergence.node = detail;
  divergence.inputs.push_back({.name = "x",
                               .shape = {1, 2},
                               .dtype = "float32",
                               .min = 0,
                               .max = 3,
                               .mean = 1,
                               .standard_deviation = 1.5});
  divergence.actual.name = divergence.expected.name = "add";
  divergence.actual.num_nan = 7;
  nodes.note = "Values were requested one by one.";
  return nodes;
}

inline std::string summary_of(const std::vector<Result>& results, const Coverage& coverage = {},
                              const RunContext& context = {},
                              const std::vector<Result>& cases = {}) {
  return render_summary(
      {.coverage = coverage, .context = context, .results = results, .cases = cases});
}

}  // namespace torch_ir
