#include "harness/results/difference_figures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace torch_ir {
namespace {

constexpr double kInfiniteFigure = std::numeric_limits<double>::infinity();
constexpr double kNanFigure = std::numeric_limits<double>::quiet_NaN();

OutputDetail detail(double max_diff, double smallest) {
  OutputDetail detail;
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
  report.output_details.push_back(detail(0, kInfiniteFigure));
  report.output_details[0].comparison.mismatch = "shape [1], expected [2]";
  EXPECT_FALSE(difference_figures(report).max_diff);
  EXPECT_EQ(difference_figures(report).smallest_passing_tolerance, kInfiniteFigure);
}

TEST(DifferenceFiguresTest, EachIsTheGreatestOfAllTrials) {
  ModelResult result;
  EXPECT_FALSE(difference_figures(result).max_diff);
  // The worst trial, by its tolerance, is not the one with the greatest difference.
  result.trials = {trial(0.0188, 0.009), trial(0.0206, 0.004)};
  EXPECT_EQ(result.worst_trial(), &result.trials[0]);
  EXPECT_EQ(difference_figures(result).max_diff, 0.0206);
  EXPECT_EQ(difference_figures(result).smallest_passing_tolerance, 0.009);
  for (const bool nan_first : {true, false}) {
    result.trials = {trial(nan_first ? kNanFigure : kInfiniteFigure, 0),
                     trial(nan_first ? 1 : kNanFigure, 0)};
    EXPECT_TRUE(std::isnan(*difference_figures(result).max_diff)) << nan_first;
  }
}

TEST(DifferenceFiguresTest, ATrialThatCouldNotBeComparedPassesWithNoTolerance) {
  ModelResult result;
  result.trials = {trial(0.5, 0.25), Trial()};
  EXPECT_EQ(difference_figures(result).max_diff, 0.5);
  EXPECT_EQ(difference_figures(result).smallest_passing_tolerance, kInfiniteFigure);
  result.trials.erase(result.trials.begin());
  EXPECT_FALSE(difference_figures(result).smallest_passing_tolerance);
}

}  // namespace
}  // namespace torch_ir
