// Tests single calls in results.json and against a baseline.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/results/results_file.h"
#include "harness/results/testing/schema_problem.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kWhole = kStages.size();

Result call_named(const std::string& name, size_t num_passed_stages = kWhole) {
  return {.name = name,
          .categories = {"pointwise"},
          .call = CallInfo{.op_type = "aten.abs.default", .dtype = "float32"},
          .num_passed_stages = num_passed_stages};
}

Result failed_call(const std::string& name, FailureKind kind) {
  Result result = call_named(name, 2);
  result.failure = Failure{.kind = kind, .stage = Stage::kExecute, .message = "not so"};
  return result;
}

// Single calls, one of them with all keys.
std::vector<Result> make_cases() {
  std::vector<Result> cases = {
      call_named("a/passed"), failed_call("a/differs", FailureKind::kOutputMismatch),
      call_named("a/unsupported", 2), failed_call("a/memory", FailureKind::kOutOfMemory)};
  Result& full = cases[1];
  full.description = "two groups";
  full.call->occurrences = {{.model = "m", .node = "abs", .module = "a.b", .source = "f.py:3"},
                            {.model = "m", .node = "abs_1"}};
  full.metrics = {.max_diff = std::numeric_limits<double>::infinity(),
                  .smallest_passing_tolerance = std::numeric_limits<double>::quiet_NaN()};
  full.own_error = OwnError{.rms_ratio = 2};
  cases[2].unsupported = "no abs here";
  return cases;
}

RunRecord run_with(std::vector<Result> cases) {
  return {.context = {.environment = {{"LibTorch", "2.13.0"}}},
          .results = {{.name = "Tiny", .num_passed_stages = kWhole}},
          .cases = std::move(cases)};
}

RunRecord read_back(const json& content) {
  const std::string path = ::testing::TempDir() + "single_calls.json";
  write_file(path, content.dump());
  return read_run_record(path);
}

TEST(SingleCallResultsTest, AreInTheFile) {
  const json results = json::parse(results_to_json(run_with(make_cases())));
  EXPECT_EQ(schema_problem(results), "");
  const json& cases = results["cases"];
  EXPECT_EQ(cases[1]["status"], "failed");
  EXPECT_EQ(cases[1]["failure"]["kind"], "output mismatch");
  EXPECT_EQ(cases[1]["max_diff"], "inf");
  EXPECT_EQ(cases[1]["own_error"]["rms_ratio"], 2);
  EXPECT_EQ(cases[1]["call"]["occurrences"][0]["source"], "f.py:3");
  EXPECT_EQ(cases[2]["reason"], "no abs here");
  EXPECT_TRUE(cases[0]["max_diff"].is_null());
  EXPECT_FALSE(cases[0].contains("trials"));
  json wrong = results;
  wrong["cases"][0]["status"] = "fine";
  EXPECT_NE(schema_problem(wrong), "");
}

TEST(SingleCallResultsTest, SayWhichNodesRanOnTheHost) {
  RunRecord run = run_with(make_cases());
  const ExecutorNode node{.op_type = "aten.abs.default",
                          .place = "host",
                          .seconds = 0.25,
                          .metrics = {{"cycles", int64_t{7}}, {"load", 0.5}, {"tile", "8x8"}}};
  const ExecutorReport report{.num_nodes = 3, .nodes = {{"abs", node}}, .seconds = 0.5};
  // Only calls that passed count.
  run.cases[0].executor = run.cases[1].executor = report;
  const json results = json::parse(results_to_json(run));
  EXPECT_EQ(schema_problem(results), "");
  json written = json::parse(R"({"num_nodes": 3, "nodes": {"abs": {
      "op_type": "aten.abs.default", "place": "host",
      "metrics": {"cycles": 7, "load": 0.5, "tile": "8x8"}}}})");
  EXPECT_EQ(results["cases"][0]["executor"], written);
  EXPECT_EQ(host_text(read_back(results).cases[0]), "1 of 3 nodes on the host");
  EXPECT_EQ(host_text(run.cases[1]), "");
  run.context.timings = true;
  const json timed = json::parse(results_to_json(run));
  EXPECT_EQ(schema_problem(timed), "");
  written["seconds"] = 0.5;
  written["nodes"]["abs"]["seconds"] = 0.25;
  EXPECT_EQ(timed["cases"][0]["executor"], written);
  RunRecord read = read_back(timed);
  read.context.timings = true;
  EXPECT_EQ(json::parse(results_to_json(read)), timed);
  json wrong = timed;
  wrong["cases"][0]["executor"]["nodes"]["abs"]["metrics"]["tile"] = {8, 8};
  EXPECT_NE(schema_problem(wrong), "");
}

TEST(SingleCallResultsTest, AreReadBack) {
  const RunRecord written = run_with(make_cases());
  const RunRecord read = read_back(json::parse(results_to_json(written)));
  EXPECT_EQ(results_to_json(read), results_to_json(written));
  EXPECT_TRUE(std::isnan(*read.cases[1].metrics.smallest_passing_tolerance));
  EXPECT_EQ(read.cases[2].status(), Status::kUnsupported);
  EXPECT_TRUE(read.cases[2].is_good());
}

TEST(SingleCallResultsTest, HaveNamesOfTheirOutcomes) {
  std::vector<std::string_view> names;
  for (const Result& it : make_cases()) names.push_back(outcome_name(it));
  EXPECT_THAT(names, ElementsAre("passed", "differs", "unsupported", "out of memory"));
  Result known = failed_call("a", FailureKind::kCrashed);
  known.expected_failure = ExpectedFailure{.kind = FailureKind::kCrashed, .reason = "known"};
  EXPECT_EQ(outcome_name(known), "expected failure");
}

std::vector<std::string> changes(const RunRecord& old, const RunRecord& now) {
  std::vector<std::string> texts;
  for (const ModelChange& change : compare_with_baseline(old, now).models) {
    texts.push_back(change.model + " " + std::string(trend_name(change.trend)));
  }
  return texts;
}

TEST(SingleCallResultsTest, AreComparedWithABaseline) {
  RunRecord old = run_with({call_named("a"), call_named("b"), call_named("c")});
  old.coverage.selection.suite = Suite::kOperators;
  RunRecord now = old;
  EXPECT_THAT(changes(old, now), IsEmpty());
  EXPECT_EQ(compare_with_baseline(old, now).num_cases, 3u);
  now.cases = {failed_call("a", FailureKind::kCrashed), call_named("b"), call_named("d")};
  now.cases[1].metrics.max_diff = 1;
  old.cases[1].metrics.max_diff = 0;
  EXPECT_THAT(changes(old, now), ElementsAre("a worse", "b worse", "c gone", "d new"));
  // Cases that only one of the runs selected are not compared.
  now.coverage.selection.dtypes = {"int64"};
  EXPECT_THAT(changes(old, now), ElementsAre("a worse", "b worse", "d new"));
  old.coverage.is_interrupted = true;
  EXPECT_THAT(changes(old, now), ElementsAre("a worse", "b worse"));
}

}  // namespace
}  // namespace torch_ir
