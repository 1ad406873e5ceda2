#include "harness/results/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/results/testing/test_results.h"
#include "torch_ir/base/file.h"
#include "torch_ir/ir/json.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result passed(const std::string& name, double max_diff = 0, double smallest = 0) {
  Result result{.name = name,
                .categories = {"a"},
                .num_passed_stages = kStages.size(),
                .trials = {make_trial(max_diff, smallest)}};
  result.summary.emplace(GraphSummary{.fingerprint = "f"}).figures.num_nodes = 3;
  return result;
}

Result failed(const std::string& name, Stage stage, FailureKind kind) {
  return {.name = name,
          .categories = {"a"},
          .num_passed_stages = static_cast<size_t>(stage),
          .failure = Failure{.kind = kind, .stage = stage}};
}

RunRecord run(std::vector<Result> results) {
  return {.context = {.environment = {{"LibTorch", "2.13.0"}}}, .results = std::move(results)};
}

// The change of the only model, if it changed.
std::optional<ModelChange> change(const Result& old, const Result& now) {
  const BaselineComparison comparison = compare_with_baseline(run({old}), run({now}));
  EXPECT_EQ(comparison.num_compared, 1u);
  if (comparison.models.empty()) return std::nullopt;
  return comparison.models.at(0);
}

std::optional<Trend> trend(const Result& old, const Result& now) {
  const std::optional<ModelChange> found = change(old, now);
  if (!found) return std::nullopt;
  return found->trend;
}

struct Step {
  const char* what;
  Result old;
  Result now;
  std::optional<Trend> trend;
  // Of the way back; by default the opposite.
  std::optional<Trend> back = std::nullopt;
};

std::optional<Trend> opposite(std::optional<Trend> trend) {
  if (trend == Trend::kWorse) return Trend::kBetter;
  return trend == Trend::kBetter ? Trend::kWorse : trend;
}

TEST(BaselineTest, EachStepHasItsTrend) {
  const Result good = passed("A");
  const Result mismatch = failed("A", Stage::kVerify, FailureKind::kOutputMismatch);
  const Result crash = failed("A", Stage::kExecute, FailureKind::kCrashed);
  Result expected = mismatch;
  expected.expected_failure = ExpectedFailure{.kind = FailureKind::kOutputMismatch};
  Result unexpected = good;
  unexpected.expected_failure = expected.expected_failure;
  Result refused = good;
  refused.unsupported = "no";
  Result mismatch_of_graph = mismatch;
  mismatch_of_graph.summary = good.summary;
  Result of_other_graph = good;
  of_other_graph.summary->fingerprint = "g";
  Result agreeing = good;
  agreeing.nodes.emplace().num_compared = 3;
  Result differing = agreeing;
  differing.nodes->num_mismatched = 2;
  const std::vector<Step> steps = {
      {"no longer passes", good, mismatch, Trend::kWorse},
      {"another stage", mismatch, crash, Trend::kChanged},
      {"another kind", crash, failed("A", Stage::kExecute, FailureKind::kTimedOut),
       Trend::kChanged},
      {"fails as expected now", good, expected, Trend::kChanged, Trend::kBetter},
      {"is expected now", mismatch, expected, Trend::kChanged},
      {"another failure than expected", expected, crash, Trend::kChanged},
      {"unexpected pass", expected, unexpected, Trend::kBetter, Trend::kChanged},
      {"passes unexpectedly now", good, unexpected, Trend::kChanged},
      {"support", refused, good, Trend::kBetter, Trend::kChanged},
      {"refused, not mended", mismatch, refused, Trend::kChanged, Trend::kWorse},
      {"mended with another graph", mismatch_of_graph, of_other_graph, Trend::kBetter},
      {"more intermediate values differ", agreeing, differing, Trend::kWorse},
      {"error", passed("A", 1e-6), passed("A", 2.1e-6), Trend::kWorse},
      {"less than twice", passed("A", 1e-6), passed("A", 1.9e-6), std::nullopt},
      {"less than 1e-7", passed("A", 1e-9), passed("A", 9e-8), std::nullopt},
      {"no longer exact", good, passed("A", 1.1e-7), Trend::kWorse},
      {"tolerance", passed("A", 0, 1e-6), passed("A", 0, 3e-6), Trend::kWorse},
      {"infinity", passed("A", 1e300), passed("A", kInfinity), Trend::kWorse},
      {"NaN", passed("A", kInfinity), passed("A", kNotANumber), Trend::kWorse},
  };
  for (const Step& step : steps) {
    EXPECT_EQ(trend(step.old, step.now), step.trend) << step.what;
    const std::optional<Trend> back = step.back ? step.back : opposite(step.trend);
    EXPECT_EQ(trend(step.now, step.old), back) << step.what << ", back";
  }
  const std::optional<ModelChange> found = change(good, mismatch);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->changes.size(), 1u);
  EXPECT_EQ(found->changes[0].what, "status");
  EXPECT_EQ(std::get<std::string>(found->changes[0].before), "passed");
  EXPECT_EQ(std::get<std::string>(found->changes[0].now), "failed in verify (output mismatch)");
}

TEST(BaselineTest, TrialsAreComparedByName) {
  Result old = passed("A", 1e-6);
  Result now = passed("A", 1e-6);
  now.trials.push_back(make_trial(10, 0, "large magnitudes"));
  EXPECT_EQ(trend(old, now), std::nullopt) << "one that only this run has";
  old.trials.insert(old.trials.begin(), make_trial(1, 0, "large magnitudes"));
  const std::optional<ModelChange> found = change(old, now);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->changes.size(), 1u);
  EXPECT_EQ(found->changes[0].what, "max abs. error, large magnitudes");
  now.trials[1].verification.output_details[0].comparison.mismatch = "shape";
  EXPECT_EQ(trend(old, now), std::nullopt) << "one that could not be compared";
}

TEST(BaselineTest, SaysHowTheRunsDifferAndComparesNoFiguresOfOtherSeeds) {
  const RunRecord old = run({passed("A", 0)});
  RunRecord now = run({passed("A", 1)});
  now.context.settings.executor = "simulator";
  now.context.settings.seed = 7;
  now.context.settings.per_node = true;
  now.context.settings.tolerance = {.fixed = {.rtol = 0, .atol = 1e-4}};
  now.context.settings.criterion = {};
  now.context.settings.tolerance_wins = true;
  now.context.settings.optimization = Optimization::kFast;
  now.context.settings.last_stage = Stage::kExtract;
  now.context.environment = {{"LibTorch", "2.14.0"}, {"CPU instructions", "AVX2"}};
  const BaselineComparison comparison = compare_with_baseline(old, now);
  EXPECT_THAT(comparison.models, IsEmpty());
  EXPECT_THAT(comparison.notes,
              ElementsAre("seed: 0 -> 7",
                          "tolerance: by dtype, or as registered; else error factor 4 "
                          "against float64 -> rtol 0, atol 0.0001",
                          "optimization: exact -> fast", "executor: none -> simulator",
                          "last stage: verify -> extract", "LibTorch: 2.13.0 -> 2.14.0",
                          "CPU instructions: none -> AVX2",
                          "trials are not compared, because the seeds differ"));
}

TEST(BaselineTest, AnotherGraphIsAChange) {
  Result now = passed("A");
  now.summary->fingerprint = "g";
  now.summary->figures.num_nodes = 4;
  const BaselineComparison comparison =
      compare_with_baseline(run({passed("A")}), run({now}),
                            {{"A", NodeChanges{.graph = {"added aten.relu.default relu"}}}});
  ASSERT_EQ(comparison.models.size(), 1u);
  EXPECT_EQ(comparison.models[0].trend, Trend::kChanged);
  ASSERT_EQ(comparison.models[0].changes.size(), 2u);
  EXPECT_THAT(comparison.models[0].changes[0].details, ElementsAre("added aten.relu.default relu"));
  EXPECT_FALSE(comparison.is_worse());
  EXPECT_EQ(comparison.models[0].changes[1].what, "nodes");
  EXPECT_EQ(comparison.models[0].changes[1].before, FigureChange::Figure(int64_t{3}));
  EXPECT_EQ(comparison.models[0].changes[1].now, FigureChange::Figure(int64_t{4}));
}

// The models and calls that changed, as "NAME TREND".
std::vector<std::string> trends(const RunRecord& old, const RunRecord& now) {
  std::vector<std::string> texts;
  for (const ModelChange& change : compare_with_baseline(old, now).models) {
    texts.push_back(change.model + " " + std::string(trend_name(change.trend)));
  }
  return texts;
}

TEST(BaselineTest, TheWorstComeFirst) {
  const RunRecord old = run({passed("A"), passed("Gone"),
                             failed("Better", Stage::kExtract, FailureKind::kExtractFailed)});
  const RunRecord now = run({passed("New"), passed("Better"), passed("A", 0.5, 0.25)});
  EXPECT_THAT(trends(old, now), ElementsAre("A worse", "Gone gone", "New new", "Better better"));
  const BaselineComparison comparison = compare_with_baseline(old, now);
  EXPECT_EQ(comparison.num_compared, 2u);
  EXPECT_TRUE(comparison.is_worse());
  EXPECT_THAT(comparison.notes, ElementsAre("not found: 1 of the 3 models of the baseline"));
  EXPECT_TRUE(compare_with_baseline(run({passed("Gone")}), run({})).is_worse());
}

TEST(BaselineTest, WhatARunWasNotAskedForIsNeitherNewNorGone) {
  Result other = passed("B");
  other.categories = {"b"};
  const RunRecord all = run({passed("A"), other});
  RunRecord category = run({passed("A")});
  category.coverage.selection.categories = {"a"};
  EXPECT_THAT(trends(all, category), IsEmpty());
  EXPECT_THAT(trends(category, all), IsEmpty());
  RunRecord named = run({other});
  named.coverage.selection.models = {"B"};
  EXPECT_THAT(trends(all, named), IsEmpty());
  // Its category was selected, but it no longer exists.
  category.results = {};
  EXPECT_THAT(trends(all, category), ElementsAre("A gone"));
}

Result imported(const std::string& path) {
  Result archive = passed(path.substr(path.rfind('/') + 1));
  archive.origin = ModelFiles{.path = path + ".pt2"};
  return archive;
}

TEST(BaselineTest, ArchivesArePairedByNameInAnyFolder) {
  RunRecord old = run({imported("models/A"), imported("models/B")});
  old.coverage.files = {{.path = "models"}};
  RunRecord now = run({});
  EXPECT_THAT(compare_with_baseline(old, now).models, IsEmpty());
  for (const std::string folder : {"models", "elsewhere/models", "other"}) {
    now = run({imported(folder + "/B")});
    now.coverage.files = {{.path = folder}};
    const BaselineComparison comparison = compare_with_baseline(old, now);
    EXPECT_EQ(comparison.num_compared, 1u);
    EXPECT_THAT(trends(old, now), ElementsAre("A gone"));
    EXPECT_TRUE(comparison.is_worse());
    // Who gives one archive selects it.
    now.coverage.files = {{.path = folder + "/B.pt2"}};
    EXPECT_THAT(compare_with_baseline(old, now).models, IsEmpty());
  }
  // In any order.
  now = run({});
  now.coverage.files = {{.format = FileFormat::kGraph, .path = "net"}, {.path = "models"}};
  old.coverage.files = {{.path = "models"}, {.format = FileFormat::kGraph, .path = "a/net"}};
  EXPECT_THAT(trends(old, now), ElementsAre("A gone", "B gone"));
}

TEST(BaselineTest, WhatIsInAFileThatOnlyThisRunWasGivenIsNew) {
  RunRecord old = run({imported("A")});
  old.coverage.files = {{.path = "A.pt2"}};
  RunRecord now = run({imported("A"), imported("B")});
  now.coverage.files = {{.path = "A.pt2"}, {.path = "B.pt2"}};
  Result call = passed("aten.abs.default/float32/2x3");
  call.call.emplace();
  now.cases = {call};
  EXPECT_THAT(trends(old, now), ElementsAre("B new")) << "the earlier run was asked for no calls";
  call.name += "-2";
  old.cases = {call};
  EXPECT_THAT(trends(old, now), ElementsAre("B new", now.cases[0].name + " new"));
  EXPECT_THAT(trends(now, old), ElementsAre(call.name + " new"));
  EXPECT_TRUE(compare_with_baseline(old, now).models[1].is_case);
  now.coverage = old.coverage;
  now.results.pop_back();
  EXPECT_THAT(trends(old, now), ElementsAre(call.name + " gone", now.cases[0].name + " new"));
  EXPECT_FALSE(compare_with_baseline(old, now).is_worse()) << "another graph has other calls";
}

TEST(BaselineTest, SingleCallsAreComparedWhereBothRunsSelectThem) {
  const auto call = [](const std::string& name, double max_diff) {
    Result result = make_case("aten.abs.default", "float32");
    result.name = name;
    result.metrics.max_diff = max_diff;
    return result;
  };
  RunRecord old = run({passed("A")});
  old.cases = {call("a", 0), call("b", 0), call("c", 0)};
  old.coverage.selection.suite = Suite::kOperators;
  RunRecord now = old;
  EXPECT_THAT(compare_with_baseline(old, now).models, IsEmpty());
  EXPECT_EQ(compare_with_baseline(old, now).num_cases, 3u);
  now.cases = {call("a", 0), call("b", 1), call("d", 0)};
  now.cases[0].failure = Failure{.kind = FailureKind::kCrashed, .stage = Stage::kExecute};
  EXPECT_THAT(trends(old, now), ElementsAre("a worse", "b worse", "c gone", "d new"));
  now.coverage.selection.dtypes = {"int64"};
  EXPECT_THAT(trends(old, now), ElementsAre("a worse", "b worse", "d new"));
  old.coverage.is_interrupted = true;
  EXPECT_THAT(trends(old, now), ElementsAre("a worse", "b worse"));
}

Result result_of(const std::string& op_type) {
  TestGraphBuilder builder("Tiny");
  return {.name = "Tiny",
          .graph = builder.input("x", {2}).op("y", op_type, {"x"}, {2}).output("y").build()};
}

class GraphChangesTest : public ::testing::Test {
 protected:
  // A run whose graph in `folder_` has a relu.
  GraphChangesTest() {
    std::filesystem::create_directories(folder_ + "ir");
    IR graph = *result_of("aten.relu.default").graph;
    graph.pytorch_version = "2.12.0";
    save_ir(graph, folder_ + "ir/Tiny.json");
    old_.results = {result_of("aten.relu.default")};
    old_.results[0].drop_graph();
  }
  ~GraphChangesTest() override { std::filesystem::remove_all(folder_); }

  std::vector<std::string> changes(const Result& result) const {
    return graph_changes(old_, folder_ + "results.json", result);
  }

  const std::string folder_ = ::testing::TempDir() + "graph_changes_test/";
  RunRecord old_;
};

TEST_F(GraphChangesTest, NamesWhatHasChangedBetweenTwoGraphs) {
  EXPECT_THAT(changes(result_of("aten.gelu.default")), ElementsAre(HasSubstr("aten.relu.default")));
  EXPECT_THAT(changes(result_of("aten.relu.default")), IsEmpty());
  EXPECT_THAT(changes(Result{.name = "Tiny"}), IsEmpty());
  EXPECT_THAT(changes(Result{.name = "Other"}), IsEmpty());
  Result renamed = result_of("aten.relu.default");
  renamed.graph->nodes[0].name = "z";
  renamed.graph->nodes[0].outputs[0].name = "z";
  renamed.graph->graph_outputs[0].name = "z";
  EXPECT_THAT(changes(renamed), ElementsAre(HasSubstr("no difference")));
}

TEST_F(GraphChangesTest, SaysWhichFileCanNotBeComparedUnlessThereIsNone) {
  const Result result = result_of("aten.gelu.default");
  save_ir(*result_of("aten.tanh.default").graph, folder_ + "ir/Tiny.json");
  EXPECT_THAT(changes(result), ElementsAre("ir/Tiny.json beside results.json is from another run"));
  write_file(folder_ + "ir/Tiny.json", "{");
  EXPECT_THAT(changes(result), ElementsAre(HasSubstr("ir/Tiny.json: ")));
  std::filesystem::remove(folder_ + "ir/Tiny.json");
  EXPECT_THAT(changes(result), IsEmpty());
}

TEST(Baseline, NamesTheFirstNodeWhoseErrorChanged) {
  const auto with_errors = [](std::vector<NodeError> errors) {
    Result result = passed("m");
    result.nodes.emplace().errors = std::move(errors);
    result.nodes->worst.push_back(
        {.index = 2, .node = "linear_2", .op_type = "aten.linear.default", .module = "layers.1"});
    return result;
  };
  const Result old = with_errors({{.index = 1, .max_diff = 0.5},
                                  {.index = 2, .max_diff = 0.5, .own_error = 1},
                                  {.index = 3, .max_diff = 0.5}});
  const Result now = with_errors({{.index = 1, .max_diff = 0.6},
                                  {.index = 2, .max_diff = 0.5, .own_error = 6},
                                  {.index = 3, .max_diff = 2}});
  EXPECT_FALSE(change(old, old));
  const auto changed = change(old, now);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->trend, Trend::kChanged);
  ASSERT_EQ(changed->changes.size(), 1u);
  EXPECT_EQ(changed->changes[0].what,
            "own error of node 2, linear_2 (aten.linear.default) in layers.1, the first that "
            "changed");
  EXPECT_EQ(changed->changes[0].before, FigureChange::Figure(1.0));
  EXPECT_EQ(changed->changes[0].now, FigureChange::Figure(6.0));
}

}  // namespace
}  // namespace torch_ir
