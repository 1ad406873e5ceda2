// Single calls in results.json.

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

RunRecord read_back(const RunRecord& run) {
  const std::string path = ::testing::TempDir() + "single_calls.json";
  write_file(path, results_to_json(run));
  return read_run_record(path);
}

// Single calls, one of each status, and all that one can have.
std::vector<ModelResult> make_cases() {
  std::vector<ModelResult> cases;
  for (const CaseStatus status : kCaseStatuses) {
    ModelResult& result = cases.emplace_back();
    result.info = {.name = "aten.abs.default/float32/" + std::to_string(cases.size()),
                   .op_type = "aten.abs.default",
                   .category = "pointwise",
                   .dtype = "float32"};
    result.status = status;
    if (!result.passed()) result.message = "not so";
  }
  ModelResult& full = cases[1];
  full.info.note = "two groups";
  full.info.occurrences = {{.model = "m", .node = "abs", .module = "a.b", .source = "f.py:3"},
                           {.model = "m", .node = "abs_1"}};
  full.max_diff = std::numeric_limits<double>::infinity();
  full.smallest_passing_tolerance = std::numeric_limits<double>::quiet_NaN();
  full.second_opinion = SecondOpinion{.executor_error = 0.25, .eager_error = 0.125, .factor = 2};
  return cases;
}

RunRecord run_with_cases() {
  return {.context = {.environment = {{"libtorch", "2.13.0"}}},
          .results = {{.name = "Tiny", .num_passed_stages = kStages.size()}},
          .cases = make_cases()};
}

TEST(SingleCallResultsTest, AreInTheFile) {
  const json results = json::parse(results_to_json(run_with_cases()));
  EXPECT_EQ(schema_problem(results), "");
  EXPECT_EQ(results["totals"]["models"], 1);
  EXPECT_EQ(results["totals"]["cases"]["out of memory"], 1);
  ASSERT_EQ(results["cases"].size(), kCaseStatuses.size());
  EXPECT_EQ(results["cases"][1]["status"], "differs");
  EXPECT_EQ(results["cases"][1]["max_diff"], "inf");
  EXPECT_EQ(results["cases"][1]["occurrences"][0]["source"], "f.py:3");
  EXPECT_TRUE(results["cases"][0]["max_diff"].is_null());
  json wrong = results;
  wrong["cases"][0]["status"] = "fine";
  EXPECT_NE(schema_problem(wrong), "");
  EXPECT_FALSE(json::parse(results_to_json(RunRecord())).contains("cases"));
}

TEST(SingleCallResultsTest, HaveNoDifferencesInPortableFiles) {
  RunRecord run = run_with_cases();
  run.context.portable = true;
  run.cases[0].max_diff = 0;
  run.cases[1].max_diff = 0.5;
  const json results = json::parse(results_to_json(run));
  EXPECT_EQ(schema_problem(results), "");
  EXPECT_EQ(results["cases"][0]["max_diff"], 0);
  EXPECT_EQ(results["cases"][1]["max_diff"], "within tolerance");
  EXPECT_EQ(results["cases"][1]["second_opinion"]["executor_error"], "within tolerance");
  EXPECT_EQ(results["cases"][1]["second_opinion"]["factor"], "within tolerance");
}

TEST(SingleCallResultsTest, AreReadBack) {
  const std::vector<ModelResult> written = make_cases();
  const RunRecord read = read_back(run_with_cases());
  ASSERT_EQ(read.cases.size(), written.size());
  for (size_t i = 0; i < written.size(); ++i) {
    EXPECT_EQ(read.cases[i].info.name, written[i].info.name);
    EXPECT_EQ(read.cases[i].status, written[i].status);
    EXPECT_EQ(read.cases[i].message, written[i].message);
  }
  const ModelResult& full = read.cases[1];
  EXPECT_EQ(full.info.op_type, "aten.abs.default");
  EXPECT_EQ(full.info.category, "pointwise");
  EXPECT_EQ(full.info.dtype, "float32");
  EXPECT_EQ(full.info.note, "two groups");
  EXPECT_EQ(full.info.occurrences, written[1].info.occurrences);
  EXPECT_EQ(full.max_diff, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(*full.smallest_passing_tolerance));
  EXPECT_EQ(full.second_opinion, written[1].second_opinion);
  // A file without any is one of a run of models.
  EXPECT_TRUE(read_back(RunRecord()).cases.empty());
}

}  // namespace
}  // namespace torch_ir
