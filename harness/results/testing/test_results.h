// Hand-made results for tests.
#pragma once

#include <limits>
#include <string>

#include "harness/results/result.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

// y = x + w, with attributes.
inline IR tiny_graph() {
  return TestGraphBuilder("Tiny")
      .input("x", {1, 2})
      .weight("p_w", "w", {1200})
      .weight("c_mask", "mask", {2})
      .op("add", "aten.add.Tensor", {"x", "p_w"}, {1, 2},
          {{"alpha", Attribute(2)}, {"flag", Attribute(true)}})
      .output("add")
      .build();
}

// Adds copies of the first node of tiny_graph, "add_1" and so on.
inline void repeat_node(IR& graph, size_t num_nodes) {
  const OpNode node = graph.nodes[0];
  for (size_t i = 1; i < num_nodes; ++i) {
    OpNode& copy = graph.nodes.emplace_back(node);
    copy.name = copy.outputs[0].name = "add_" + std::to_string(i);
  }
}

// A passed trial with one output.
inline Trial make_trial(double max_diff, double smallest_passing_tolerance = 0,
                        const std::string& name = "normal values") {
  Trial trial{.name = name};
  trial.verification.is_valid = true;
  trial.verification.max_diff = max_diff;
  TensorComparison& comparison = trial.verification.output_details.emplace_back().comparison;
  comparison.is_close = true;
  comparison.max_diff = max_diff;
  comparison.smallest_passing_tolerance = smallest_passing_tolerance;
  return trial;
}

// "Tiny", which passes: one node, "add", and an output that differs by at most `max_diff`.
inline Result make_result(double max_diff = 0) {
  Result result{.name = "Tiny", .description = "One | add", .categories = {"a", "b_c"}};
  result.num_passed_stages = kStages.size();
  result.graph = tiny_graph();
  VerificationReport& report =
      result.trials.emplace_back(make_trial(max_diff, max_diff / 4)).verification;
  report.passed_by = result.passed_by = Basis::kTolerance;
  report.mean_diff = max_diff / 2;
  report.tolerance.fixed = {.rtol = 1e-4, .atol = 1e-4};
  ValueDetail& detail = report.output_details[0];
  detail.value = "add";
  detail.output = 0;
  detail.basis = Basis::kTolerance;
  detail.comparison.mean_diff = max_diff / 2;
  detail.comparison.num_elements = 2048;
  if (max_diff != 0) {
    detail.comparison.worst_index = {0, 1};
    detail.comparison.worst_actual = "1.5";
    detail.comparison.worst_expected = "1.25";
  }
  return result;
}

// "Broken", which could not be extracted.
inline Result make_failure() {
  Result result{.name = "Broken", .categories = {"a"}};
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

// "Known", which fails as expected.
inline Result make_known(const std::string& reason) {
  Result result = make_mismatch();
  result.name = "Known";
  result.expected_failure = ExpectedFailure{.kind = FailureKind::kOutputMismatch, .reason = reason};
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

// A call of the suite that passes.
inline Result make_case(const std::string& op_type, const std::string& dtype) {
  return {.name = op_type + "/" + dtype + "/usual",
          .categories = {"pointwise"},
          .call = CallInfo{.op_type = op_type, .dtype = dtype},
          .num_passed_stages = kStages.size(),
          .metrics = {.max_diff = 0}};
}

inline Result make_failed_case(const std::string& op_type, const std::string& dtype,
                               FailureKind kind, const std::string& message) {
  Result result = make_case(op_type, dtype);
  result.failure = Failure{.kind = kind, .message = message};
  result.metrics = {};
  return result;
}

}  // namespace torch_ir
