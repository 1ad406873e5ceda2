#include "harness/results/result_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;

// Returns `value` as another process reads it.
template <class T>
T sent(const T& value) {
  using json_fields::Json;
  T read;
  json_fields::read(
      Json::parse(json_fields::write(value).dump(-1, ' ', false, Json::error_handler_t::replace)),
      read);
  return read;
}

Result make_result() {
  Result result;
  result.name = "Tiny";
  result.description = "One add";
  result.categories = {"a", "b"};
  result.origin = Origin{.archive = "a.pt2", .inputs = "x", .expected = "y"};
  result.num_passed_stages = 3;
  result.failure = Failure{.kind = FailureKind::kOutputMismatch,
                           .stage = Stage::kVerify,
                           .message = "differs",
                           .output = "last words"};
  result.expected_failure =
      ExpectedFailure{.kind = FailureKind::kCrashed, .reason = "a known fault"};
  VerificationReport& report =
      result.trials.emplace_back(Trial{.name = "normal values"}).verification;
  report.max_diff = std::numeric_limits<double>::infinity();
  report.mean_diff = std::numeric_limits<double>::quiet_NaN();
  report.error_message = "output 0";
  report.tolerance.fixed = {.rtol = 1e-3, .atol = 0.1};
  report.optimization = Optimization::kFast;
  OutputDetail& detail = report.output_details.emplace_back();
  detail.index = 0;
  detail.name = "add";
  detail.comparison = {.is_close = false,
                       .mismatch = "",
                       .shape = {1, 2},
                       .dtype = "float32",
                       .max_diff = 0.1,
                       .mean_diff = 1.0 / 3,
                       .num_elements = 2,
                       .num_mismatched = 1,
                       .worst_index = {0, 1},
                       .worst_actual = "1",
                       .worst_expected = "2",
                       .smallest_passing_tolerance = 0.05};
  detail.comparison.max_ulp_diff = std::numeric_limits<uint64_t>::max();
  NodeReport& nodes = result.nodes.emplace();
  nodes.num_compared = 7;
  nodes.first_divergence = Divergence{.node = {.index = 3, .node = "add", .comparison = {}},
                                      .inputs = {{.name = "x", .shape = {1, 2}}},
                                      .actual = {.name = "add"},
                                      .expected = {.name = "add", .min = -1e-300}};
  nodes.first_nan = NonFinite{.index = 4, .node = "log", .is_nan = true};
  nodes.skipped = {{.value = "relu", .reason = "fused"}};
  nodes.unknown = {"hidden"};
  result.reproducer = Reproducer{.num_nodes = 1, .first_node = "add", .last_node = "add"};
  result.stage_seconds = {0.5};
  result.current_trial = 2;
  return result;
}

TEST(ResultFieldsTest, ResultsComeBackAsTheyWere) {
  const Result result = make_result();
  const Result read = sent(result);
  EXPECT_EQ(read.name, result.name);
  EXPECT_EQ(read.description, result.description);
  EXPECT_EQ(read.categories, result.categories);
  ASSERT_TRUE(read.origin);
  EXPECT_EQ(read.origin->archive, "a.pt2");
  EXPECT_EQ(read.origin->inputs, "x");
  EXPECT_EQ(read.origin->expected, "y");
  EXPECT_EQ(read.num_passed_stages, 3u);
  EXPECT_EQ(read.current_trial, 2);
  EXPECT_EQ(read.stage_seconds, result.stage_seconds);
  ASSERT_TRUE(read.failure);
  EXPECT_EQ(read.failure->stage, Stage::kVerify);
  EXPECT_EQ(read.failure->message, "differs");
  EXPECT_EQ(read.failure->output, "last words");
  EXPECT_EQ(read.failure->kind, FailureKind::kOutputMismatch);
  EXPECT_EQ(read.expected_failure->reason, "a known fault");
  ASSERT_EQ(read.trials.size(), 1u);
  EXPECT_EQ(read.trials[0].name, "normal values");
  const VerificationReport& report = read.trials[0].verification;
  EXPECT_EQ(report.max_diff, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(report.mean_diff));
  EXPECT_EQ(report.tolerance.fixed.rtol, 1e-3);
  EXPECT_EQ(report.optimization, Optimization::kFast);
  ASSERT_EQ(report.output_details.size(), 1u);
  const TensorComparison& comparison = report.output_details[0].comparison;
  EXPECT_EQ(comparison.mean_diff, 1.0 / 3);
  EXPECT_EQ(comparison.worst_index, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(comparison.worst_expected, "2");
  EXPECT_EQ(comparison.max_ulp_diff, std::numeric_limits<uint64_t>::max());
  ASSERT_TRUE(read.nodes && read.nodes->first_divergence);
  EXPECT_EQ(read.nodes->first_divergence->node.node, "add");
  EXPECT_EQ(read.nodes->first_divergence->expected.min, -1e-300);
  ASSERT_TRUE(read.reproducer);
  EXPECT_EQ(read.reproducer->last_node, "add");
  // Nothing else was lost.
  EXPECT_EQ(json_fields::write(read), json_fields::write(result));
}

TEST(ResultFieldsTest, StagesComeBackAsTheyWere) {
  for (size_t passed = 0; passed <= kStages.size(); ++passed) {
    const Result result{.name = "Tiny", .num_passed_stages = passed};
    EXPECT_EQ(sent(result).num_passed_stages, passed);
  }
}

TEST(ResultFieldsTest, WhatIsNotThereStaysAway) {
  const Result read = sent(Result{.name = "Empty"});
  EXPECT_FALSE(read.failure);
  EXPECT_FALSE(read.graph);
  EXPECT_TRUE(read.trials.empty());
  EXPECT_FALSE(read.nodes);
  EXPECT_FALSE(read.passed());
}

TEST(ResultFieldsTest, MessagesMayHoldAnyBytes) {
  Result result;
  result.failure = Failure{
      .kind = FailureKind::kExecuteFailed, .stage = Stage::kExecute, .message = "bad \xff byte"};
  EXPECT_THAT(sent(result).failure->message, HasSubstr("bad "));
}

TEST(ResultFieldsTest, SettingsComeBackAsTheyWere) {
  RunSettings settings;
  settings.seed = std::numeric_limits<uint64_t>::max();
  settings.tolerance.fixed = {.rtol = 0.1, .atol = 1e-300};
  settings.tolerance.outputs = {{2, {.rtol = 0.5, .atol = 0}}};
  settings.optimization = Optimization::kFast;
  settings.device = c10::Device(c10::kCUDA, 1);
  settings.executor = "run {ir}";
  const RunSettings read = sent(settings);
  EXPECT_EQ(read.seed, settings.seed);
  EXPECT_EQ(read.tolerance, settings.tolerance);
  EXPECT_EQ(read.optimization, Optimization::kFast);
  EXPECT_EQ(read.device, settings.device);
  EXPECT_EQ(read.executor, "run {ir}");
}

TEST(ResultFieldsTest, SourcesComeBackAsTheyWere) {
  const ModelFiles graph{.format = FileFormat::kGraph,
                         .name = "a",
                         .path = "a/ir.json",
                         .weights = "w",
                         .inputs = "x",
                         .expected = "y"};
  EXPECT_EQ(std::get<ModelFiles>(sent(ModelSource(graph))), graph);
  EXPECT_EQ(std::get<std::string>(sent(ModelSource("Tiny"))), "Tiny");
  const CaseSource call{.info = {.name = "aten.abs.default/float32/usual"}, .folder = "f"};
  const auto read = std::get<CaseSource>(sent(ModelSource(call)));
  EXPECT_EQ(read.info.name, call.info.name);
  EXPECT_EQ(read.folder, "f");
}

}  // namespace
}  // namespace torch_ir
