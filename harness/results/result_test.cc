#include "harness/results/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "torch_ir/ir/json.h"

namespace torch_ir {
namespace {

using ::testing::EndsWith;

IR make_graph() {
  IR graph;
  graph.model_name = "Tiny";
  graph.pytorch_version = "2.13.0";
  graph.graph_inputs.push_back({.name = "x", .shape = {1, 2}, .dtype = "float32"});
  return graph;
}

TEST(GraphFingerprintTest, IsTheSameForAllVersionsOfPyTorch) {
  const IR graph = make_graph();
  IR newer = graph;
  newer.pytorch_version = "2.14.0";
  EXPECT_EQ(graph_fingerprint(newer), graph_fingerprint(graph));
  // From hashlib.sha1 of the file without a version, so that baselines stay comparable.
  EXPECT_EQ(graph_fingerprint(graph), "811dc63c62d99265a1f8167c15c330913940e75b");
}

TEST(GraphFingerprintTest, IsTheSameForAllModules) {
  const OpNode node{
      .name = "a", .op_type = "aten.relu.default", .inputs = {}, .outputs = {}, .attrs = {}};
  IR graph = make_graph();
  graph.nodes = {node};
  graph.nodes[0].graphs.push_back({.graph_inputs = {}, .graph_outputs = {}, .nodes = {node}});
  IR moved = graph;
  moved.nodes[0].module = moved.nodes[0].graphs[0].nodes[0].module = "layers.0";
  EXPECT_EQ(graph_fingerprint(moved), graph_fingerprint(graph));
}

TEST(GraphFingerprintTest, TellsGraphsApart) {
  const IR graph = make_graph();
  IR renamed = graph;
  renamed.graph_inputs[0].name = "y";
  EXPECT_NE(graph_fingerprint(renamed), graph_fingerprint(graph));
  IR reshaped = graph;
  reshaped.graph_inputs[0].shape = {2, 1};
  EXPECT_NE(graph_fingerprint(reshaped), graph_fingerprint(graph));
}

TEST(GraphFingerprintTest, IsThatOfTheFile) {
  const IR graph = make_graph();
  EXPECT_EQ(graph_fingerprint(deserialize_ir(serialize_ir(graph))), graph_fingerprint(graph));
}

constexpr double kInfiniteFigure = std::numeric_limits<double>::infinity();
constexpr double kNanFigure = std::numeric_limits<double>::quiet_NaN();

ValueDetail detail(double max_diff, double smallest) {
  ValueDetail detail;
  detail.comparison.max_diff = max_diff;
  detail.comparison.smallest_passing_tolerance = smallest;
  return detail;
}

Trial trial(double max_diff, double smallest) {
  Trial trial;
  trial.verification.max_diff = max_diff;
  trial.verification.output_details = {detail(max_diff, smallest)};
  return trial;
}

TEST(DifferenceMetricsTest, TakeTheWorstOutput) {
  VerificationReport report;
  report.max_diff = 0.5;
  report.output_details = {detail(0.5, 0.25), detail(0.1, 0.75)};
  EXPECT_EQ(difference_metrics(report).max_diff, 0.5);
  EXPECT_EQ(difference_metrics(report).smallest_passing_tolerance, 0.75);
}

TEST(DifferenceMetricsTest, WhatCanNotBeComparedHasNoDifference) {
  VerificationReport report;
  EXPECT_FALSE(difference_metrics(report).max_diff);
  EXPECT_FALSE(difference_metrics(report).smallest_passing_tolerance);
  report.output_details.push_back(detail(0, kInfiniteFigure));
  report.output_details[0].comparison.mismatch = "shape [1], expected [2]";
  EXPECT_FALSE(difference_metrics(report).max_diff);
  EXPECT_EQ(difference_metrics(report).smallest_passing_tolerance, kInfiniteFigure);
}

TEST(DifferenceMetricsTest, EachIsTheGreatestOfAllTrials) {
  Result result;
  EXPECT_FALSE(difference_metrics(result).max_diff);
  // The worst trial, by its tolerance, is not the one with the maximum error.
  result.trials = {trial(0.0188, 0.009), trial(0.0206, 0.004)};
  EXPECT_EQ(result.worst_trial(), &result.trials[0]);
  EXPECT_EQ(difference_metrics(result).max_diff, 0.0206);
  EXPECT_EQ(difference_metrics(result).smallest_passing_tolerance, 0.009);
  for (const bool nan_first : {true, false}) {
    result.trials = {trial(nan_first ? kNanFigure : kInfiniteFigure, 0),
                     trial(nan_first ? 1 : kNanFigure, 0)};
    EXPECT_TRUE(std::isnan(*difference_metrics(result).max_diff)) << nan_first;
  }
}

TEST(DifferenceMetricsTest, ATrialThatCouldNotBeComparedPassesWithNoTolerance) {
  Result result;
  result.trials = {trial(0.5, 0.25), Trial()};
  EXPECT_EQ(difference_metrics(result).max_diff, 0.5);
  EXPECT_EQ(difference_metrics(result).smallest_passing_tolerance, kInfiniteFigure);
  result.trials.erase(result.trials.begin());
  EXPECT_FALSE(difference_metrics(result).smallest_passing_tolerance);
}

TEST(ModelResultTest, TheStageIsTheOneThatFailedOrTheLast) {
  Result result{.name = "Net", .num_passed_stages = kStages.size()};
  EXPECT_EQ(result.stage(), Stage::kVerify);
  EXPECT_EQ(result.status(), Status::kPassed);
  result.num_passed_stages = 1;
  result.failure = Failure{.kind = FailureKind::kCrashed, .stage = Stage::kSerialize};
  EXPECT_EQ(result.stage(), Stage::kSerialize);
  EXPECT_FALSE(result.graph_summary());
}

TEST(ModelResultTest, OnlyTheFailureThatIsExpectedIsGood) {
  Result result{.name = "Net", .num_passed_stages = kStages.size()};
  EXPECT_TRUE(result.is_good());
  result.expected_failure = ExpectedFailure{.kind = FailureKind::kCrashed, .reason = "known"};
  EXPECT_EQ(result.status(), Status::kUnexpectedPass);
  EXPECT_FALSE(result.is_good());
  result.num_passed_stages = 2;
  result.failure = Failure{.kind = FailureKind::kCrashed, .stage = Stage::kExecute};
  EXPECT_EQ(result.status(), Status::kExpectedFailure);
  EXPECT_TRUE(result.is_good());
  result.failure->kind = FailureKind::kOutOfMemory;
  EXPECT_EQ(result.status(), Status::kFailed);
  EXPECT_FALSE(result.is_good());
}

}  // namespace
}  // namespace torch_ir
