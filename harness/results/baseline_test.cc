#include "harness/results/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

ModelRecord passed(const std::string& name, double max_diff = 0, double smallest = 0) {
  return {
      .name = name,
      .categories = {"a"},
      .status = Status::kPassed,
      .stage = Stage::kVerify,
      .graph = GraphFigures{.nodes = 3, .fingerprint = "f"},
      .trials = {{.name = "normal values",
                  .differences = {.max_diff = max_diff, .smallest_passing_tolerance = smallest}}}};
}

ModelRecord failed(const std::string& name, Stage stage, FailureKind kind) {
  return {.name = name,
          .categories = {"a"},
          .status = Status::kFailed,
          .stage = stage,
          .failure = kind};
}

RunResults run(std::vector<ModelRecord> models) {
  RunResults run;
  run.environment = {{"libtorch", "2.13.0"}};
  run.models = std::move(models);
  return run;
}

// What became of the one model; nothing where it did not change.
std::optional<ModelChange> change(const ModelRecord& old, const ModelRecord& now) {
  const BaselineComparison comparison = compare_with_baseline(run({old}), run({now}));
  EXPECT_EQ(comparison.num_compared, 1u);
  if (comparison.models.empty()) return std::nullopt;
  return comparison.models.at(0);
}

std::optional<Trend> trend(const ModelRecord& old, const ModelRecord& now) {
  const std::optional<ModelChange> found = change(old, now);
  if (!found) return std::nullopt;
  return found->trend;
}

TEST(BaselineTest, TheSameRunHasNoChange) {
  const RunResults same =
      run({passed("A", 1e-6, kInfinity), failed("B", Stage::kExecute, FailureKind::kCrashed),
           passed("C", kNan)});
  const BaselineComparison comparison = compare_with_baseline(same, same);
  EXPECT_EQ(comparison.num_compared, 3u);
  EXPECT_THAT(comparison.models, IsEmpty());
  EXPECT_THAT(comparison.notes, IsEmpty());
  EXPECT_FALSE(comparison.is_worse());
}

TEST(BaselineTest, AModelThatNoLongerPassesIsWorse) {
  const ModelRecord bad = failed("A", Stage::kVerify, FailureKind::kOutputMismatch);
  const std::optional<ModelChange> found = change(passed("A"), bad);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->trend, Trend::kWorse);
  ASSERT_EQ(found->changes.size(), 1u);
  EXPECT_EQ(found->changes[0].what, "status");
  EXPECT_EQ(std::get<std::string>(found->changes[0].before), "passed");
  EXPECT_EQ(std::get<std::string>(found->changes[0].now), "failed in verify (output mismatch)");
  EXPECT_EQ(trend(bad, passed("A")), Trend::kBetter);
}

TEST(BaselineTest, AnEarlierStageIsWorseAndAnotherKindIsAChange) {
  const ModelRecord mismatch = failed("A", Stage::kVerify, FailureKind::kOutputMismatch);
  const ModelRecord crash = failed("A", Stage::kExecute, FailureKind::kCrashed);
  const ModelRecord timeout = failed("A", Stage::kExecute, FailureKind::kTimedOut);
  EXPECT_EQ(trend(mismatch, crash), Trend::kWorse);
  EXPECT_EQ(trend(crash, mismatch), Trend::kBetter);
  EXPECT_EQ(trend(crash, timeout), Trend::kChanged);
}

TEST(BaselineTest, AFailureThatIsExpectedNowIsAChange) {
  ModelRecord expected = failed("A", Stage::kVerify, FailureKind::kOutputMismatch);
  expected.status = Status::kExpectedFailure;
  EXPECT_EQ(trend(passed("A"), expected), Trend::kChanged);
  EXPECT_EQ(trend(expected, passed("A")), Trend::kChanged);
  ModelRecord unexpected = passed("A");
  unexpected.status = Status::kUnexpectedPass;
  EXPECT_EQ(trend(expected, unexpected), Trend::kWorse);
}

TEST(BaselineTest, DifferencesThatGrowBeyondNoiseAreWorse) {
  EXPECT_EQ(trend(passed("A", 1e-6), passed("A", 2.1e-6)), Trend::kWorse);
  EXPECT_EQ(trend(passed("A", 2.1e-6), passed("A", 1e-6)), Trend::kBetter);
  EXPECT_EQ(trend(passed("A", 1e-6), passed("A", 1.9e-6)), std::nullopt) << "less than twice";
  EXPECT_EQ(trend(passed("A", 1e-9), passed("A", 9e-8)), std::nullopt) << "less than 1e-7";
  EXPECT_EQ(trend(passed("A", 0), passed("A", 1.1e-7)), Trend::kWorse);
  EXPECT_EQ(trend(passed("A", 0, 1e-6), passed("A", 0, 3e-6)), Trend::kWorse);
}

TEST(BaselineTest, NanIsWorseThanInfinityAndThatThanAllElse) {
  EXPECT_EQ(trend(passed("A", 1e300), passed("A", kInfinity)), Trend::kWorse);
  EXPECT_EQ(trend(passed("A", kInfinity), passed("A", kNan)), Trend::kWorse);
  EXPECT_EQ(trend(passed("A", kNan), passed("A", kInfinity)), Trend::kBetter);
  EXPECT_EQ(trend(passed("A", kInfinity), passed("A", 1)), Trend::kBetter);
}

TEST(BaselineTest, TrialsAreComparedByName) {
  ModelRecord old = passed("A", 1e-6);
  ModelRecord now = passed("A", 1e-6);
  now.trials.push_back({.name = "large magnitudes", .differences = {.max_diff = 10}});
  EXPECT_EQ(trend(old, now), std::nullopt) << "one that only this run has";
  old.trials.insert(old.trials.begin(),
                    {.name = "large magnitudes", .differences = {.max_diff = 1}});
  const std::optional<ModelChange> found = change(old, now);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->changes.size(), 1u);
  EXPECT_EQ(found->changes[0].what, "max diff, large magnitudes");
  now.trials[1].differences.max_diff = std::nullopt;
  EXPECT_EQ(trend(old, now), std::nullopt) << "one that could not be compared";
}

TEST(BaselineTest, FiguresOfOtherSeedsAreNotCompared) {
  const RunResults old = run({passed("A", 0)});
  RunResults now = run({passed("A", 1)});
  now.settings.seed = 7;
  const BaselineComparison comparison = compare_with_baseline(old, now);
  EXPECT_THAT(comparison.models, IsEmpty());
  EXPECT_THAT(
      comparison.notes,
      ElementsAre("seed: 0 -> 7", "figures of trials are not compared: other seeds, other values"));
}

TEST(BaselineTest, SaysHowTheRunsDiffer) {
  const RunResults old = run({passed("A")});
  RunResults now = old;
  now.settings.executor = "simulator";
  now.settings.per_node = true;
  now.settings.tolerance.fixed.rtol = 0;
  now.settings.tolerance_wins = true;
  now.settings.optimization = Optimization::kFast;
  now.settings.last_stage = Stage::kExtract;
  now.environment = {{"libtorch", "2.14.0"}, {"cpu_capability", "AVX2"}};
  EXPECT_THAT(compare_with_baseline(old, now).notes,
              ElementsAre("tolerance: rtol 0.0001, atol 0.0001, or as registered -> rtol 0, atol "
                          "0.0001",
                          "optimization: exact -> fast", "executor: none -> simulator",
                          "last stage: verify -> extract", "LibTorch: 2.13.0 -> 2.14.0",
                          "CPU instructions: none -> AVX2"));
}

TEST(BaselineTest, AnotherGraphIsAChange) {
  ModelRecord now = passed("A");
  now.graph->fingerprint = "g";
  now.graph->nodes = 4;
  const BaselineComparison comparison = compare_with_baseline(
      run({passed("A")}), run({now}), {{"A", {"added aten.relu.default relu"}}});
  ASSERT_EQ(comparison.models.size(), 1u);
  EXPECT_EQ(comparison.models[0].trend, Trend::kChanged);
  ASSERT_EQ(comparison.models[0].changes.size(), 2u);
  EXPECT_THAT(comparison.models[0].changes[0].details, ElementsAre("added aten.relu.default relu"));
  EXPECT_FALSE(comparison.is_worse());
  EXPECT_EQ(comparison.models[0].changes[1].what, "nodes");
  EXPECT_EQ(comparison.models[0].changes[1].before, FigureChange::Figure(int64_t{3}));
  EXPECT_EQ(comparison.models[0].changes[1].now, FigureChange::Figure(int64_t{4}));
}

TEST(BaselineTest, TheWorstComeFirst) {
  const BaselineComparison comparison =
      compare_with_baseline(run({passed("A"), passed("Gone"),
                                 failed("Better", Stage::kExtract, FailureKind::kExtractFailed)}),
                            run({passed("New"), passed("Better"), passed("A", 0.5, 0.25)}));
  EXPECT_TRUE(comparison.is_worse());
  std::vector<Trend> trends;
  for (const ModelChange& model : comparison.models) trends.push_back(model.trend);
  EXPECT_THAT(trends, ElementsAre(Trend::kWorse, Trend::kGone, Trend::kNew, Trend::kBetter));
}

std::vector<std::string> names_of(const BaselineComparison& comparison, Trend trend) {
  std::vector<std::string> names;
  for (const ModelChange& model : comparison.models) {
    if (model.trend == trend) names.push_back(model.model);
  }
  return names;
}

TEST(BaselineTest, ModelsOfOneRunAreNewOrGone) {
  const BaselineComparison comparison =
      compare_with_baseline(run({passed("A"), passed("B")}), run({passed("B"), passed("C")}));
  EXPECT_EQ(comparison.num_compared, 1u);
  EXPECT_THAT(names_of(comparison, Trend::kGone), ElementsAre("A"));
  EXPECT_THAT(names_of(comparison, Trend::kNew), ElementsAre("C"));
  EXPECT_FALSE(comparison.is_worse());
}

TEST(BaselineTest, WhatARunWasNotAskedForIsNeitherNewNorGone) {
  ModelRecord other = passed("B");
  other.categories = {"b"};
  const RunResults all = run({passed("A"), other});
  RunResults category = run({passed("A")});
  category.coverage.selection.categories = {"a"};
  EXPECT_THAT(compare_with_baseline(all, category).models, IsEmpty());
  EXPECT_THAT(compare_with_baseline(category, all).models, IsEmpty());
  RunResults named = run({other});
  named.coverage.selection.models = {"B"};
  EXPECT_THAT(compare_with_baseline(all, named).models, IsEmpty());
  // Of the category, and not there any more.
  category.models.clear();
  EXPECT_THAT(names_of(compare_with_baseline(all, category), Trend::kGone), ElementsAre("A"));
}

TEST(BaselineTest, ArchivesAreGoneFromTheSameFolderOnly) {
  ModelRecord archive = passed("A");
  archive.is_imported = true;
  RunResults old = run({archive});
  old.coverage.files = {{.path = "models"}};
  RunResults now = run({});
  EXPECT_THAT(compare_with_baseline(old, now).models, IsEmpty());
  now.coverage.files = {{.path = "elsewhere/models"}};
  EXPECT_THAT(names_of(compare_with_baseline(old, now), Trend::kGone), ElementsAre("A"));
  // In results.json archives are before graphs.
  now.coverage.files = {{.format = FileFormat::kGraph, .path = "net"}, {.path = "models"}};
  old.coverage.files = {{.path = "models"}, {.format = FileFormat::kGraph, .path = "a/net"}};
  EXPECT_THAT(names_of(compare_with_baseline(old, now), Trend::kGone), ElementsAre("A"));
}

}  // namespace
}  // namespace torch_ir
