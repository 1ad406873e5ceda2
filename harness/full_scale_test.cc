// The command line on full-scale models, which are extracted and not run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "harness/results/testing/schema_problem.h"
#include "harness/testing/run_command_line.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::StartsWith;

using FullScaleTest = HarnessTest;

TEST_F(FullScaleTest, AreExtractedAndNotRun) {
  const HarnessOutcome result = run({"--scale", "full"}).expect_status(0);
  EXPECT_THAT(result.out,
              StartsWith("[1/1] Vast  EXTRACTED  1 node, 1,099,512,676,352 parameters, not run\n"
                         "1 of 1 models extracted, not run; see "));
  EXPECT_EQ(result.err, "");
  auto files = reports();
  EXPECT_THAT(files, ElementsAre(Key("SUMMARY.md"), Key("Vast.md"), Key("index.html"),
                                 Key("ir/Vast.json"), Key("junit.xml"), Key("results.json")));
  const std::string page = files["Vast.md"];
  EXPECT_THAT(page, HasSubstr("☑️ **EXTRACTED**, not run: "));
  EXPECT_THAT(page, HasSubstr("| serialize | ✅ passed |"));
  EXPECT_THAT(page, HasSubstr("| execute | not run |"));
  EXPECT_THAT(page, HasSubstr("| verify | not run |"));
  EXPECT_THAT(page, HasSubstr("| not run |  | 1 | 0 | 0 |"));
  EXPECT_THAT(page, HasSubstr("tools/bazel run //harness -- --model Vast --scale full\n"));
  EXPECT_THAT(page, Not(HasSubstr("PASSED")));
  EXPECT_THAT(files["SUMMARY.md"], HasSubstr("| Models | Extracted | Failed |"));
  EXPECT_THAT(files["junit.xml"], HasSubstr("skipped=\"1\""));
  const auto results = nlohmann::json::parse(files["results.json"]);
  EXPECT_EQ(schema_problem(results), "");
  EXPECT_EQ(results["settings"]["scale"], "full");
  EXPECT_EQ(results["models"][0]["status"], "extracted");
  EXPECT_EQ(results["models"][0]["stage"], "serialize");
  EXPECT_EQ(results["models"][0]["files"], nlohmann::json({"Vast.md", "ir/Vast.json"}));
}

TEST_F(FullScaleTest, AreListedByThemselvesAndRefuseWhatNeedsARun) {
  EXPECT_THAT(run({"--scale", "full", "--list-models"}).out, HasSubstr("\nVast   vast"));
  EXPECT_EQ(run({"--scale", "full", "--list-categories"}).out, "vast\n");
  EXPECT_THAT(run({"--list-models"}).out, Not(HasSubstr("Vast")));
  EXPECT_THAT(run({"--model", "Vast"}).err, HasSubstr("unknown model 'Vast'"));
  expect_bad_usage({"--scale", "huge"}, "--scale: unknown scale 'huge'; expected test or full");
  expect_bad_usage({"--scale", "full", "--per-node"},
                   "--scale and --per-node cannot be combined: full-scale models are not run");
}

}  // namespace
}  // namespace torch_ir
