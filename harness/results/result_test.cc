#include "harness/results/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/results/testing/test_results.h"

namespace torch_ir {
namespace {

// That of the file, without the version and the modules.
TEST(GraphFingerprintTest, TellsGraphsApartButNotVersionsAndModules) {
  IR graph;
  graph.model_name = "Tiny";
  graph.pytorch_version = "2.13.0";
  graph.graph_inputs = {meta("x", {1, 2})};
  // From hashlib.sha1 of the file without a version, so that baselines stay comparable.
  EXPECT_EQ(graph_fingerprint(graph), "811dc63c62d99265a1f8167c15c330913940e75b");
  graph.nodes = {node("a", "aten.relu.default", {}, {})};
  graph.nodes[0].graphs.push_back({.graph_inputs = {}, .graph_outputs = {}, .nodes = graph.nodes});
  IR equal = graph;
  equal.pytorch_version = "2.14.0";
  equal.nodes[0].module = equal.nodes[0].graphs[0].nodes[0].module = "layers.0";
  EXPECT_EQ(graph_fingerprint(equal), graph_fingerprint(graph));
  IR renamed = graph;
  renamed.graph_inputs[0].name = "y";
  EXPECT_NE(graph_fingerprint(renamed), graph_fingerprint(graph));
  IR reshaped = graph;
  reshaped.graph_inputs[0].shape = {2, 1};
  EXPECT_NE(graph_fingerprint(reshaped), graph_fingerprint(graph));
}

TEST(DifferenceMetricsTest, TakeTheWorstOutputUnlessItCanNotBeCompared) {
  VerificationReport report;
  EXPECT_FALSE(difference_metrics(report).max_diff);
  EXPECT_FALSE(difference_metrics(report).smallest_passing_tolerance);
  report = make_trial(0.5, 0.25).verification;
  report.output_details.push_back(make_trial(0.1, 0.75).verification.output_details[0]);
  EXPECT_EQ(difference_metrics(report).max_diff, 0.5);
  EXPECT_EQ(difference_metrics(report).smallest_passing_tolerance, 0.75);
  report = make_trial(0, kInfinity).verification;
  report.output_details[0].comparison.mismatch = "shape [1], expected [2]";
  EXPECT_FALSE(difference_metrics(report).max_diff);
  EXPECT_EQ(difference_metrics(report).smallest_passing_tolerance, kInfinity);
}

TEST(DifferenceMetricsTest, EachIsTheGreatestOfAllTrials) {
  Result result;
  EXPECT_FALSE(difference_metrics(result).max_diff);
  // The worst trial, by its tolerance, is not the one with the maximum error.
  result.trials = {make_trial(0.0188, 0.009), make_trial(0.0206, 0.004)};
  EXPECT_EQ(result.worst_trial(), &result.trials[0]);
  EXPECT_EQ(difference_metrics(result).max_diff, 0.0206);
  EXPECT_EQ(difference_metrics(result).smallest_passing_tolerance, 0.009);
  result.trials = {make_trial(kNotANumber, 0), make_trial(1, 0)};
  EXPECT_TRUE(std::isnan(*difference_metrics(result).max_diff));
  result.trials = {make_trial(kInfinity, 0), make_trial(kNotANumber, 0)};
  EXPECT_TRUE(std::isnan(*difference_metrics(result).max_diff));
  // One that could not be compared passes with no tolerance.
  result.trials = {make_trial(0.5, 0.25), Trial()};
  EXPECT_EQ(difference_metrics(result).max_diff, 0.5);
  EXPECT_EQ(difference_metrics(result).smallest_passing_tolerance, kInfinity);
  result.trials = {Trial()};
  EXPECT_FALSE(difference_metrics(result).smallest_passing_tolerance);
}

TEST(ModelResultTest, OnlyTheFailureThatIsExpectedIsGood) {
  Result result{.name = "Net", .num_passed_stages = kStages.size()};
  EXPECT_EQ(result.stage(), Stage::kVerify);
  EXPECT_EQ(result.status(), Status::kPassed);
  EXPECT_TRUE(result.is_good());
  result.expected_failure = ExpectedFailure{.kind = FailureKind::kCrashed, .reason = "known"};
  EXPECT_EQ(result.status(), Status::kUnexpectedPass);
  EXPECT_FALSE(result.is_good());
  result.num_passed_stages = 1;
  result.failure = Failure{.kind = FailureKind::kCrashed, .stage = Stage::kSerialize};
  EXPECT_EQ(result.stage(), Stage::kSerialize);
  EXPECT_FALSE(result.graph_summary());
  EXPECT_EQ(result.status(), Status::kExpectedFailure);
  EXPECT_TRUE(result.is_good());
  result.failure->kind = FailureKind::kOutOfMemory;
  EXPECT_EQ(result.status(), Status::kFailed);
  EXPECT_FALSE(result.is_good());
}

}  // namespace
}  // namespace torch_ir
