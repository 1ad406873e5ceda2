#include "harness/results/results_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/results/testing/schema_problem.h"
#include "harness/results/testing/test_results.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

// Without figures that could be compared, and with a text that is not UTF-8.
Result make_failed() {
  Result result = make_mismatch();
  result.origin = ModelFiles{.path = "broken.pt2"};
  result.failure->message = "bad \xff byte \u00e9";
  result.failure->output = "last\nwords";
  result.expected_failure = ExpectedFailure{.kind = FailureKind::kCrashed, .reason = "known"};
  result.trials[0].verification.max_diff = kNotANumber;
  VerificationReport& worst = result.trials[1].verification;
  worst.max_diff = kInfinity;
  worst.output_details[0].comparison.smallest_passing_tolerance = kInfinity;
  result.nodes.emplace();
  result.reproducer = Reproducer{.num_nodes = 1, .command = "torch-ir verify ir.json"};
  return result;
}

RunContext make_context() {
  RunContext context;
  context.settings.tolerance.outputs = {{1, {.rtol = 0.5, .atol = kInfinity}}};
  context.environment = {{"LibTorch", "2.13.0"}, {"BLAS", "mkl"}};
  return context;
}

Coverage make_coverage() {
  return {.selection = {.categories = {"a"}},
          .files = {{.path = "folder/broken.pt2", .inputs = {"folder/x.safetensors"}},
                    {.format = FileFormat::kGraph, .path = "folder/net/ir.json"}},
          .num_registered = 5};
}

RunRecord make_run(const std::vector<Result>& results, const RunContext& context = make_context()) {
  return {.coverage = make_coverage(), .context = context, .results = results};
}

std::string text_of(const std::vector<Result>& results,
                    const RunContext& context = make_context()) {
  return results_to_json(make_run(results, context));
}

const std::vector<Result>& all_results() {
  static const std::vector<Result> results = {make_result(0.5), make_failed(), make_failure()};
  return results;
}

TEST(ResultsSchemaTest, RefusesWhatIsNot) {
  const json valid = json::parse(text_of(all_results()));
  const std::pair<const char*, json> changes[] = {{"/version", 1},
                                                  {"/unknown", 1},
                                                  {"/models/0/status", "fine"},
                                                  {"/models/0/max_diff", "many"},
                                                  {"/models/0", json::object()}};
  EXPECT_EQ(schema_problem(valid), "");
  for (const auto& [pointer, value] : changes) {
    json changed = valid;
    changed[json::json_pointer(pointer)] = value;
    EXPECT_NE(schema_problem(changed), "") << pointer;
  }
}

// What is not a field of a result, but follows from several.
TEST(ResultsFileTest, HasTheFiguresOfModels) {
  const json results = json::parse(text_of(all_results()));
  const json& tiny = results["models"][0];
  EXPECT_EQ(tiny["status"], "passed");
  EXPECT_EQ(tiny["stage"], "verify");
  EXPECT_TRUE(tiny["failure"].is_null());
  EXPECT_EQ(tiny["graph"]["nodes"], 1);
  EXPECT_EQ(tiny["graph"]["edges"], 2);
  EXPECT_EQ(tiny["graph"]["weights"], 2);
  EXPECT_EQ(tiny["graph"]["parameters"], 1202);
  EXPECT_EQ(tiny["max_diff"], 0.5);
  EXPECT_EQ(tiny["smallest_passing_tolerance"], 0.125);
  EXPECT_EQ(tiny["files"], json({"Tiny.md", "ir/Tiny.json", "svg/Tiny.svg"}));
  const json& off = results["models"][1];
  EXPECT_EQ(off["status"], "failed");
  EXPECT_EQ(off["max_diff"], "nan");
  EXPECT_EQ(off["trials"][1]["max_diff"], "inf");
  EXPECT_EQ(off["files"].back(), "repro/Off");
  const json& broken = results["models"][2];
  for (const char* key : {"graph", "max_diff", "node_report"}) {
    EXPECT_TRUE(broken[key].is_null()) << key;
  }
  EXPECT_EQ(broken["files"], json({"Broken.md"}));
}

TEST(ResultsFileTest, NeedsNoGraphThatWasDroppedAndNamesNoPictureThatWasNotDrawn) {
  Result dropped = make_result();
  dropped.drop_graph();
  EXPECT_FALSE(dropped.graph);
  EXPECT_EQ(text_of({dropped}), text_of({make_result()}));
  dropped.picture_problem = "it is too large";
  EXPECT_EQ(json::parse(text_of({dropped}))["models"][0]["files"],
            json({"Tiny.md", "ir/Tiny.json"}));
}

TEST(ResultsFileTest, IsAsciiWithPlainListsOnALineAndFilesAsTyped) {
  const std::string text = text_of(all_results());
  EXPECT_THAT(text, HasSubstr("\"path\": \"folder/broken.pt2\""));
  EXPECT_THAT(text, HasSubstr("\n      \"categories\": [\"a\", \"b_c\"],\n"));
  EXPECT_THAT(text, HasSubstr("bad \\ufffd byte \\u00e9"));
  EXPECT_TRUE(std::ranges::all_of(text, [](unsigned char c) { return c < 0x7f; }));
  EXPECT_TRUE(text.ends_with("\n}\n"));
}

std::string write_temporary(const std::string& text) {
  const std::string path = ::testing::TempDir() + "results.json";
  write_file(path, text);
  return path;
}

RunRecord read_back(const std::string& text) { return read_run_record(write_temporary(text)); }

TEST(ResultsFileTest, HasSingleCallsWithFiguresOfTheirOwnAndWhereTheyRan) {
  Result call = make_case("aten.abs.default", "float32");
  call.metrics = {};
  RunRecord run{.context = make_context(), .cases = {call, call, call}};
  Result& failed = run.cases[1];
  failed.name = "b";
  failed.num_passed_stages = 2;
  failed.failure = Failure{.kind = FailureKind::kOutputMismatch, .stage = Stage::kExecute};
  failed.metrics = {.max_diff = kInfinity, .smallest_passing_tolerance = kNotANumber};
  run.cases[2].name = "c";
  run.cases[2].num_passed_stages = 2;
  run.cases[2].unsupported = "no abs here";
  const ExecutorNode node{.op_type = "aten.abs.default",
                          .place = "host",
                          .metrics = {{"cycles", int64_t{7}}, {"load", 0.5}, {"tile", "8x8"}}};
  // Only calls that passed count.
  run.cases[0].executor = failed.executor =
      ExecutorReport{.num_nodes = 3, .nodes = {{"abs", node}}};
  EXPECT_EQ(host_text(failed), "");

  const std::string text = results_to_json(run);
  const json cases = json::parse(text)["cases"];
  EXPECT_EQ(schema_problem(json::parse(text)), "");
  const json written = json::parse(R"({"num_nodes": 3, "nodes": {"abs": {
      "op_type": "aten.abs.default", "place": "host",
      "metrics": {"cycles": 7, "load": 0.5, "tile": "8x8"}}}})");
  EXPECT_EQ(cases[0]["executor"], written);
  EXPECT_TRUE(cases[0]["max_diff"].is_null());
  EXPECT_FALSE(cases[0].contains("trials"));
  EXPECT_EQ(cases[1]["status"], "failed");
  EXPECT_EQ(cases[1]["max_diff"], "inf");
  EXPECT_EQ(cases[2]["reason"], "no abs here");
  const RunRecord read = read_back(text);
  EXPECT_EQ(results_to_json(read), text);
  EXPECT_EQ(host_text(read.cases[0]), "1 of 3 nodes on the host");
  EXPECT_TRUE(std::isnan(*read.cases[1].metrics.smallest_passing_tolerance));
  EXPECT_EQ(read.cases[2].status(), Status::kUnsupported);
  EXPECT_TRUE(read.cases[2].is_good());
  // Files of before have times.
  nlohmann::ordered_json timed = nlohmann::ordered_json::parse(text);
  timed["cases"][0]["executor"]["seconds"] = 0.5;
  timed["cases"][0]["executor"]["nodes"]["abs"]["seconds"] = 0.25;
  EXPECT_EQ(results_to_json(read_back(timed.dump())), text);
}

TEST(ReadResultsTest, ReadsWhatWasWritten) {
  const RunRecord written = make_run(all_results());
  // What has changed is no part of a run.
  const BaselineComparison baseline{.models = {{.changes = {{.what = "graph"}}}}};
  const RunRecord read = read_back(results_to_json(written, &baseline));
  ASSERT_EQ(read.coverage.files.size(), 2u);
  EXPECT_EQ(read.coverage.files[1].path, "folder/net");
  ASSERT_EQ(read.results.size(), 3u);
  EXPECT_EQ(read.results[1].status(), Status::kFailed);
  EXPECT_EQ(read.results[1].trials.at(1).verification.smallest_passing_tolerance(), kInfinity);
  EXPECT_FALSE(read.results[2].graph_summary());
  // Nothing else was lost.
  EXPECT_EQ(results_to_json(read), text_of(all_results()));
  // A comparison finds no change.
  const BaselineComparison comparison = compare_with_baseline(read, written);
  EXPECT_TRUE(comparison.models.empty());
  EXPECT_TRUE(comparison.notes.empty());
  EXPECT_EQ(comparison.num_compared, 3u);
}

// The error of reading valid results with `value` at `pointer`, without the name of the file.
std::string error_of(const std::string& pointer, const json& value) {
  json changed = json::parse(text_of(all_results()));
  changed[json::json_pointer(pointer)] = value;
  const std::string path = write_temporary(changed.dump());
  try {
    read_run_record(path);
  } catch (const SerializationError& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with(path + ": ")) << text;
    return text.substr(path.size() + 2);
  }
  return "none";
}

TEST(ReadResultsTest, ErrorsNameThePlace) {
  struct Refusal {
    std::string pointer;
    json value;
    std::string problem;
  };
  const std::string no_number = "expected a number, \"nan\", \"inf\" or \"-inf\", found ";
  const Refusal refusals[] = {
      {"/format", "other", "expected 'torch-ir results', found 'other'"},
      {"/models", 1, "expected a list, found 1"},
      {"/models/1/status", "fine",
       "unknown name 'fine'; expected one of: passed, not held, extracted, failed, expected "
       "failure, unexpected pass, unsupported"},
      {"/coverage/suite", "a\x1b[m", "unknown suite 'a\\x1b[m'; expected models or operators"},
      {"/models/1/stage", json::array(), "expected a string, found array"},
      {"/models/0/graph/nodes", 1.5, "expected an integer, found 1.5"},
      {"/models/1/trials/1/max_diff", "much", no_number + "\"much\""},
      {"/settings/tolerance/rtol", "abc", no_number + "\"abc\""},
      {"/settings/tolerance/outputs", {{"x", 1}}, "invalid position 'x'"},
      {"/models/1/trials/0/outputs/0/comparison/histogram", json::array({1}),
       "expected a list of the right length, found array"},
      {"/settings", json::array(), "expected an object, found array"},
      {"/models/2", json::object(), "missing key 'name'"},
  };
  for (const auto& [pointer, value, problem] : refusals) {
    EXPECT_EQ(error_of(pointer, value), pointer + ": " + problem);
  }
  for (const int version : {2, 4}) {
    EXPECT_EQ(error_of("/version", version),
              fmt::format("/version: unsupported version {}; this program reads version 3, so "
                          "repeat that run with it",
                          version));
  }
  EXPECT_EQ(error_of("/models/0/name", "Broken"), "/models/2/name: duplicate name 'Broken'");
  EXPECT_THAT(error_of("/models/1/failure/kind", "x\ny"),
              AllOf(HasSubstr("/models/1/failure/kind: "), Not(HasSubstr("\n"))));
  EXPECT_EQ(error_of("", json::array()), "expected an object, found array");
}

// A file of an older program, with only the keys that a comparison needs.
TEST(ReadResultsTest, WhatAFileDoesNotHaveIsLeftEmptyOrTheDefault) {
  json older = json::parse(text_of(all_results()));
  for (json& model : older["models"]) {
    for (const char* key :
         {"description", "expected_failure", "node_report", "reproducer", "files", "max_diff"}) {
      model.erase(key);
    }
    if (!model["failure"].is_null()) model["failure"].erase("output");
    for (json& trial : model["trials"]) {
      for (json& output : trial["outputs"]) output["comparison"].erase("histogram");
    }
  }
  older["settings"].erase("trials");
  const RunRecord read = read_back(older.dump());
  EXPECT_EQ(read.results[0].description, "");
  EXPECT_EQ(difference_metrics(read.results[0]).max_diff, 0.5);
  EXPECT_FALSE(read.results[1].nodes);
  EXPECT_EQ(read.context.settings.trials, RunSettings().trials);
  EXPECT_THAT(compare_with_baseline(read, make_run(all_results())).models, ::testing::IsEmpty());
}

TEST(ReadResultsTest, OtherFilesAreRefused) {
  const auto expect_refused = [](const std::string& text, const auto& message) {
    EXPECT_THAT([&] { read_back(text); }, ThrowsMessage<SerializationError>(message));
  };
  expect_refused("{", AllOf(HasSubstr("results.json: not valid JSON: line 1, column 2: "),
                            Not(HasSubstr("\n"))));
  // The usual limits of JSON apply.
  expect_refused(std::string(600, '['), HasSubstr("nested deeper than 512 levels"));
  expect_refused(R"({"format": "torch-ir results", "version": 18446744073709551615})",
                 HasSubstr("/version: expected a smaller integer, found 18446744073709551615"));
  expect_refused("{}", HasSubstr("results.json: missing key 'format'"));
  EXPECT_THAT([] { read_run_record("not/there.json"); },
              ThrowsMessage<Error>(HasSubstr("not/there.json")));
}

}  // namespace
}  // namespace torch_ir
