#include "torch_ir/harness/results/run_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

OutputDetail detail(double max_diff, double smallest) {
  OutputDetail detail;
  detail.comparison.max_diff = max_diff;
  detail.comparison.smallest_passing_tolerance = smallest;
  return detail;
}

TEST(DifferenceFiguresTest, TakeTheWorstOutput) {
  VerificationReport report;
  report.max_diff = 0.5;
  report.output_details = {detail(0.5, 0.25), detail(0.1, 0.75)};
  EXPECT_EQ(difference_figures(report).max_diff, 0.5);
  EXPECT_EQ(difference_figures(report).smallest_passing_tolerance, 0.75);
}

TEST(DifferenceFiguresTest, WhatCanNotBeComparedHasNoDifference) {
  VerificationReport report;
  EXPECT_FALSE(difference_figures(report).max_diff);
  EXPECT_FALSE(difference_figures(report).smallest_passing_tolerance);
  report.output_details.push_back(detail(0, kInfinity));
  report.output_details[0].comparison.mismatch = "shape [1], expected [2]";
  EXPECT_FALSE(difference_figures(report).max_diff);
  EXPECT_EQ(difference_figures(report).smallest_passing_tolerance, kInfinity);
}

TEST(ModelRecordTest, TheStageIsTheOneThatFailedOrTheLast) {
  ModelResult result{.name = "Net", .num_passed_stages = kStages.size()};
  EXPECT_EQ(model_record(result).stage, Stage::kVerify);
  EXPECT_EQ(model_record(result).status, Status::kPassed);
  result.num_passed_stages = 1;
  result.failure = Failure{.kind = FailureKind::kCrashed, .stage = Stage::kSerialize};
  EXPECT_EQ(model_record(result).stage, Stage::kSerialize);
  EXPECT_EQ(model_record(result).failure, FailureKind::kCrashed);
  EXPECT_FALSE(model_record(result).graph);
}

TEST(RunResultsTest, APortableRunDoesNotNameItsLibTorch) {
  RunContext context;
  context.environment = {{"libtorch", "2.13.0"}, {"blas", "mkl"}};
  EXPECT_EQ(run_results({}, {}, context).environment, context.environment);
  context.portable = true;
  EXPECT_THAT(run_results({}, {}, context).environment, ElementsAre(Pair("libtorch", "<version>")));
}

}  // namespace
}  // namespace torch_ir
