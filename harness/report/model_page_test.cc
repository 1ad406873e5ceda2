// The page of a model.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/report/pages.h"
#include "harness/report/testing/page_test_results.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ModelPageTest, HasEveryPart) {
  const std::string page = render_model_page(make_result(), {});
  EXPECT_THAT(page, StartsWith("# Tiny\n\n✅ **PASSED**: the outputs match the model's. "
                               "Max abs. error: 0\n\nOne | add\n"));
  EXPECT_THAT(page, HasSubstr("Categories: `a`, `b_c`\n"));
  EXPECT_THAT(page, HasSubstr("| Nodes | Edges | Inputs | Outputs | Weights | Total parameters |\n"
                              "|--:|--:|--:|--:|--:|--:|\n"
                              "| 1 | 2 | 1 | 1 | 2 | 1,202 |\n"));
  EXPECT_THAT(page, HasSubstr("| Input | `x` | `1x2` | `float32` |\n"
                              "| Output | `add` | `1x2` | `float32` |\n"));
  EXPECT_THAT(page, HasSubstr("| extract | ✅ passed | 1 node, captured"));
  EXPECT_THAT(page, HasSubstr("| verify | ✅ passed | 1 output compared"));
  EXPECT_THAT(page, HasSubstr("| `add` | 0 | 2,048 | 0 | 0 | inf | 0 | 0 | rtol 1e-05, atol "
                              "1e-05 | equal |\n"));
  EXPECT_THAT(page, HasSubstr("The tolerance is rtol = 0.0001 and atol = 0.0001.\n"));
  EXPECT_THAT(page, HasSubstr("```mermaid\nflowchart TD\n"));
  EXPECT_THAT(page, HasSubstr("```mermaid\npie showData"));
  EXPECT_THAT(page, HasSubstr("[`ir/Tiny.json`](ir/Tiny.json)"));
  EXPECT_THAT(page, HasSubstr("<details>\n<summary>1 node in"));
  EXPECT_THAT(page, HasSubstr("| 0 | `add` | `aten.add.Tensor` | `x` `p_w` | `1x2 float32` | "
                              "8 | 0 | `alpha=2` `flag=True` |\n"));
  EXPECT_THAT(page, HasSubstr("| `w` | parameter | `p_w` | `1200` | `float32` | 1,200 |\n"
                              "| `mask` | constant | `c_mask` | `2` | `float32` | 2 |\n"));
  EXPECT_THAT(page, HasSubstr("| LibTorch | Runs on | Device | Threads | Seed | Trials |"));
  EXPECT_THAT(page, HasSubstr("| `exact` | `cpu` | 1 | 0 | 1 |"));
  EXPECT_THAT(page, HasSubstr("```sh\ntools/bazel run //harness -- --model Tiny\n```\n"));
  EXPECT_THAT(page, Not(HasSubstr("torch-ir verify")));
}

TEST(ModelPageTest, BlankLinesAreSingleButInCode) {
  EXPECT_THAT(render_model_page(make_result(), {}), Not(HasSubstr("\n\n\n")));
  Result failed = make_failure();
  failed.failure->message = "one\n\n\ntwo";
  EXPECT_THAT(render_model_page(failed, {}), HasSubstr("```\none\n\n\ntwo\n```\n"));
}

TEST(ModelPageTest, ADifferenceIsShownWithItsPlaceAndTolerance) {
  const std::string page = render_model_page(make_result(2.5e-7), {});
  EXPECT_THAT(page, HasSubstr("Max abs. error: 2.5e-07\n"));
  EXPECT_THAT(page, HasSubstr("| `add` | 0 | 2,048 | 2.5e-07 | 1.25e-07 | inf | 0 |"));
  EXPECT_THAT(page,
              HasSubstr("#### `add`\n\nWorst element: at `[0, 1]` the graph gives `1.5`, the model "
                        "gives `1.25`."));
}

TEST(ModelPageTest, TheMaximumDifferenceIsThatOfAllTrials) {
  Result result = make_result(0.0188);
  result.trials.push_back(result.trials[0]);
  VerificationReport& other = result.trials[1].verification;
  other.max_diff = 0.0206;
  other.output_details[0].comparison.smallest_passing_tolerance = 0;
  ASSERT_EQ(result.worst_trial(), &result.trials[0]);
  EXPECT_THAT(render_model_page(result, {}), HasSubstr("Max abs. error: 0.0206\n"));
  const std::string summary = summary_of({result});
  EXPECT_THAT(summary, HasSubstr("| 0.0206 | inf | 1 | 0.0047 |  |\n"));
  EXPECT_THAT(summary, HasSubstr("Max abs. error is the maximum over all trials."));
}

TEST(ModelPageTest, NamesOperatorsThatAreNotCounted) {
  Result result = make_result();
  result.graph->nodes[0].op_type = "my.op.default";
  EXPECT_THAT(render_model_page(result, {}),
              HasSubstr("Not counted: my.op.default (1 node), unknown operator"));
  EXPECT_THAT(summary_of({result}), HasSubstr(" | ≥ 0 | "));
}

Result make_imported(const ModelFiles& origin) {
  Result result = make_result(2.5e-7);
  result.description.clear();
  result.categories = {"imported"};
  result.origin = origin;
  return result;
}

TEST(ModelPageTest, AnImportedModelSaysWhereItIsFrom) {
  const std::string page = render_model_page(make_imported({.path = "tiny.pt2",
                                                            .inputs = "tiny.in.safetensors",
                                                            .expected = "tiny.out.safetensors"}),
                                             {});
  EXPECT_THAT(page, StartsWith("# Tiny\n\n✅ **PASSED**: the outputs match those in "
                               "`tiny.out.safetensors`. Max abs. error: 2.5e-07\n\n"
                               "Imported from `tiny.pt2`, exported by PyTorch 2.13.0 from "
                               "`Tiny`.\n\nCategories: `imported`\n"));
  EXPECT_THAT(page,
              HasSubstr("| extract | ✅ passed | 1 node, read from the archive without executing "
                        "anything in it |\n"));
  EXPECT_THAT(page, HasSubstr("| execute | ✅ passed | the graph as read back, with the "
                              "archive's weights and the inputs in `tiny.in.safetensors` |\n"));
  EXPECT_THAT(page, HasSubstr("| verify | ✅ passed | 1 output compared with those in "
                              "`tiny.out.safetensors`, all within the tolerance |\n"));
  EXPECT_THAT(page, HasSubstr("the graph gives `1.5`, expected `1.25`."));
  EXPECT_THAT(page, HasSubstr("\n\nExpected outputs are those in `tiny.out.safetensors`.\n"));
  EXPECT_THAT(page, HasSubstr("```sh\ntools/bazel run //harness -- --pt2 tiny.pt2 --inputs "
                              "tiny.in.safetensors --expected tiny.out.safetensors\n```\n"));
}

TEST(ModelPageTest, AnImportedModelWithoutTensorsIsComparedWithItsOperators) {
  const std::string page = render_model_page(make_imported({.path = "my tiny's.pt2"}), {});
  EXPECT_THAT(page, HasSubstr("the outputs match those of its operators run one by one. Max"));
  EXPECT_THAT(page, HasSubstr("with the archive's weights and example inputs |\n"));
  EXPECT_THAT(page, HasSubstr("compared with those of its operators run one by one, all"));
  EXPECT_THAT(page, HasSubstr("No file gives expected outputs. Expected outputs are those of the "
                              "model's operators, each called eagerly on the imported program, "
                              "before it was converted and written"));
  EXPECT_THAT(page, HasSubstr("harness -- --pt2 'my tiny'\\''s.pt2'\n"));
}

TEST(ModelPageTest, ACommandNamesFilesAsTheUserDid) {
  const std::string page = render_model_page(
      make_imported({.path = "my models/tiny.pt2", .inputs = "../x.safetensors"}), {});
  EXPECT_THAT(page, HasSubstr("\n\nImported from `tiny.pt2`, "));
  EXPECT_THAT(page, HasSubstr("--pt2 'my models/tiny.pt2' --inputs ../x.safetensors\n"));
  const Result graph = make_imported(
      {.format = FileFormat::kGraph, .path = "reports/repro/tiny", .inputs = "x.safetensors"});
  EXPECT_THAT(render_model_page(graph, {.output = "again"}),
              HasSubstr("--ir reports/repro/tiny --inputs x.safetensors --output again\n"));
}

TEST(ModelPageTest, AGraphSaysWhereItIsFrom) {
  const std::string page =
      render_model_page(make_imported({.format = FileFormat::kGraph,
                                       .path = "tiny",
                                       .inputs = "tiny/inputs.safetensors",
                                       .expected = "tiny/expected.safetensors"}),
                        {});
  EXPECT_THAT(page, HasSubstr("\n\nThe graph of `tiny`.\n\nCategories: `imported`\n"));
  EXPECT_THAT(page, HasSubstr("| extract | ✅ passed | 1 node, read from the file |\n"));
  EXPECT_THAT(page,
              HasSubstr("| execute | ✅ passed | the graph as read back, with the "
                        "weights beside the graph and the inputs in `inputs.safetensors` |\n"));
  // Files beside the graph need no flags.
  EXPECT_THAT(page, HasSubstr("```sh\ntools/bazel run //harness -- --ir tiny\n```\n"));
  const std::string other = render_model_page(
      make_imported(
          {.format = FileFormat::kGraph, .path = "tiny.json", .inputs = "inputs.safetensors"}),
      {});
  EXPECT_THAT(other, HasSubstr("-- --ir tiny.json --inputs inputs.safetensors\n"));
  EXPECT_THAT(other, HasSubstr("No file gives expected outputs. Expected outputs are those of the "
                               "model's operators, each called eagerly by the dispatcher, with "
                               "the same weights on the same inputs."));
  EXPECT_THAT(render_model_page(make_imported({.format = FileFormat::kGraph,
                                               .path = "tiny.json",
                                               .inputs = "tiny.inputs.safetensors",
                                               .expected = "y"}),
                                {}),
              HasSubstr("-- --ir tiny.json --expected y\n"));
}

TEST(ModelPageTest, WhatAFileExpectsIsComparedOnce) {
  RunContext context;
  context.settings.trials = 5;
  const ModelFiles origin{.path = "tiny.pt2", .inputs = "in", .expected = "out"};
  EXPECT_THAT(render_model_page(make_imported(origin), context),
              HasSubstr("| `exact` | `cpu` | 1 | 0 | 1 |\n"));
  EXPECT_THAT(render_model_page(make_imported({.path = "tiny.pt2", .inputs = "in"}), context),
              HasSubstr("| `exact` | `cpu` | 1 | 0 | 1 |\n"));
  Result failed = make_imported({.path = "tiny.pt2", .inputs = "in"});
  failed.failure = Failure();
  EXPECT_THAT(render_model_page(failed, context), HasSubstr("| `exact` | `cpu` | 1 | 0 | 5 |\n"));
  const std::string summary = summary_of({make_imported(origin)}, {}, context);
  EXPECT_THAT(summary, HasSubstr("| `exact` | `cpu` | 1 | 0 | 1 | by dtype"));
  const std::string both = summary_of({make_imported(origin), failed}, {}, context);
  EXPECT_THAT(both, HasSubstr("| `exact` | `cpu` | 1 | 0 | 5 | by dtype"));
}

TEST(ModelPageTest, TrialsThatWereNotRunAreNamed) {
  Result result = make_result();
  result.not_tried = {"zeros and ones: the model raises not *positive*", "s0 = 2: no"};
  EXPECT_THAT(
      render_model_page(result, {}),
      HasSubstr("|\n\nNot tried with zeros and ones: the model raises not \\*positive\\*.\n\n"
                "Not tried with s0 = 2: no.\n\nExpected outputs"));
}

TEST(ModelPageTest, AnArchiveThatCanNotBeReadKeepsItsName) {
  Result result = make_failure();
  result.origin = ModelFiles{.path = "broken.pt2"};
  EXPECT_THAT(render_model_page(result, {}), HasSubstr("\n\nImported from `broken.pt2`.\n\n"));
}

TEST(ModelPageTest, SizesThatDifferAndNewValuesOfBuffersAreShown) {
  Result result = make_result();
  TensorMeta& input = result.graph->graph_inputs[0];
  input.shape = {kDynamicSize, kDynamicSize, 2};
  input.symbolic_shape = {"s0", "2*s0", ""};
  result.graph->nodes[0].inputs[0] = input;
  result.graph->weight_name_mapping.insert("b_count", "mask");
  result.graph->graph_outputs[0].mutates = "b_count";
  const std::string page = render_model_page(result, {});
  EXPECT_THAT(page, HasSubstr("| Input | `x` | `s0x(2*s0)x2` | `float32` |\n"));
  EXPECT_THAT(page, HasSubstr("| Output | `add`, new value of `b_count` | `1x2` |"));
}

TEST(ModelPageTest, NodesOfGraphsFollowTheirNode) {
  Result result = make_result();
  OpNode inner;
  inner.name = "sub";
  inner.op_type = "aten.sub.Tensor";
  OpNode last = inner;
  last.name = "sub_1";
  const std::vector<TensorMeta> values = {value_of("v", {2})};
  const IRGraph branch{.graph_inputs = values, .graph_outputs = values, .nodes = {inner, last}};
  result.graph->nodes[0].op_type = "higher_order.cond";
  result.graph->nodes[0].graphs = {branch, branch};
  result.graph->nodes.push_back(inner);
  const std::string page = render_model_page(result, {});
  size_t at = 0;
  for (const char* row : {"| 0 | `add`", "| 0.0.0 | `sub`", "| 0.0.1 | `sub_1`", "| 0.1.0 | `sub`",
                          "| 0.1.1 | `sub_1`", "| 1 | `sub`"}) {
    at = page.find(row, at);
    EXPECT_NE(at, std::string::npos) << row;
  }
}

TEST(ModelPageTest, AFailureComesFirst) {
  const std::string page = render_model_page(make_failure(), {});
  EXPECT_THAT(page,
              StartsWith("# Broken\n\n❌ **FAILED**: extract failed: aten::item | needs data\n\n"
                         "The message of the stage **extract** (extract failed):\n\n"
                         "```\naten::item | needs data\nmore\n```\n\n"
                         "Last lines of its output:\n\n```\nstderr\n```\n"));
  EXPECT_THAT(page,
              HasSubstr("| extract | ❌ failed | extract failed |\n| serialize | not run |  |\n"));
  EXPECT_THAT(page, Not(HasSubstr("## Graph")));
  EXPECT_THAT(page, Not(HasSubstr("## Numerical verification")));
}

// A file may have any character, and some control a terminal.
TEST(ModelPageTest, HoldsNoControlCharacters) {
  const std::string hostile = "a\x1b[31m\nb\x07\r";
  Result result = make_mismatch();
  result.failure->message = result.failure->output = hostile;
  result.description = result.trials[1].name = hostile;
  result.graph->nodes[0].op_type = result.graph->nodes[0].name = hostile;
  result.nodes = make_nodes();
  result.nodes->error = result.nodes->note = hostile;
  result.nodes->first_divergence->node.node = hostile;
  result.nodes->skipped[0].reason = hostile;
  result.reproducer = Reproducer{.first_node = hostile, .message = hostile};
  const std::string page = render_model_page(result, {});
  for (const char c : page) {
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ') << static_cast<int>(c);
  }
  EXPECT_THAT(page, HasSubstr("\n```\na\\x1b[31m\nb\\x07\\x0d\n```\n"));
  EXPECT_THAT(page, HasSubstr("`a\\x1b[31m b\\x07 `"));
}

TEST(ModelPageTest, ListsInputsThatWereNotHandedBack) {
  Result result = make_mismatch();
  result.nodes = make_nodes();
  result.nodes->first_divergence->inputs.push_back({.name = "kept"});
  EXPECT_THAT(render_model_page(result, {}),
              HasSubstr("| input | `kept` | not returned |  |  |  |  |  |  |  |\n"));
}

TEST(ModelPageTest, SavedTensorsComeWithTheCommandThatReplaysThem) {
  RunContext context;
  context.settings.save_tensors = true;
  context.settings.tolerance = {.fixed = {.rtol = 1e-4, .atol = 1e-6}};
  context.settings.criterion = {};
  Result result = make_result();
  result.trials[0].verification.tolerance = context.settings.tolerance;
  const std::string page = render_model_page(result, context);
  EXPECT_THAT(page, HasSubstr("run this in the folder of this page:\n"));
  EXPECT_THAT(page, HasSubstr("torch-ir verify ir/Tiny.json --weights "
                              "tensors/Tiny.weights.safetensors \\\n"));
  EXPECT_THAT(page, HasSubstr("--rtol 0.0001 --atol 1e-06\n"));
}

TEST(ModelPageTest, TensorsAreReplayedWithTheToleranceOfTheRun) {
  Result result = make_result();
  result.trials[0].verification.tolerance = {.by_dtype = true,
                                             .outputs = {{0, {.rtol = 0, .atol = 2}}}};
  RunContext context;
  context.settings.save_tensors = true;
  EXPECT_THAT(
      render_model_page(result, context),
      AllOf(HasSubstr("# the harness compares output 0 with rtol 0, atol 2\ntorch-ir verify "),
            HasSubstr("--expected tensors/Tiny.expected.safetensors\n```\n")));
  context.settings.criterion.reference = ReferenceKind::kModel;
  EXPECT_THAT(render_model_page(result, context),
              HasSubstr("--expected tensors/Tiny.expected.safetensors --tolerance dtype\n"));
}

TEST(ModelPageTest, IntegersAreSaidToBeExact) {
  Result result = make_result();
  ValueDetail& detail = result.trials[0].verification.output_details[0];
  detail.tolerance = {.rtol = 0, .atol = 0};
  detail.comparison.dtype = "int64";
  EXPECT_THAT(render_model_page(result, {}),
              AllOf(HasSubstr("The tolerance is rtol = 0.0001 and atol = 0.0001; integers and "
                              "booleans are compared exactly.\n"),
                    HasSubstr("| rtol 0, atol 0 | equal |\n")));
}

TEST(ModelPageTest, AMismatchIsShownWithAllFigures) {
  const std::string page = render_model_page(make_mismatch(), {});
  EXPECT_THAT(page, StartsWith("# Off\n\n❌ **FAILED**: output 'add' differs\n\n"
                               "The message of the stage **verify** (output mismatch):\n\n"
                               "```\noutput 'add' differs\n```\n"));
  EXPECT_THAT(page, HasSubstr("| normal values | ✅ passed | 2.5e-07 | 1.25e-07 | 0 | 6.25e-08 |\n"
                              "| large magnitudes | ❌ failed | 0.5 | 1.25e-07 | 12 | 0.25 |\n"));
  EXPECT_THAT(page, HasSubstr(", in the worst trial, large magnitudes.\n"));
  EXPECT_THAT(page, HasSubstr("| Max abs. error | 0.5 | Mean abs. error | 1.25e-07 |\n"
                              "| RMSE | 0.125 | Max relative error | 2 |\n"
                              "| SNR (dB) | 12.5 | Cosine similarity | 0.75 |\n"
                              "| Max ULP distance | 4096 | Outside the tolerance | 12 of "
                              "2,048 (0.586 %) |\n"));
  EXPECT_THAT(page, HasSubstr("```text\n   equal  ████████████████████████████████████████ 2,000\n"
                              "  < 1e-1  █ 48\n```\n"));
  EXPECT_THAT(page, HasSubstr(", except for outputs registered with their own.\n"));
  EXPECT_THAT(page, HasSubstr(" | rtol 0.001, atol 0.001 | within the tolerance |\n"));
}

TEST(ModelPageTest, NodesSayWhatIsComputedAtOnceAndNotHandedBack) {
  Result result = make_mismatch();
  NodeReport& nodes = result.nodes.emplace(make_nodes());
  nodes.groups = {{"g", {"add"}}};
  nodes.num_inside = 4;
  nodes.num_not_handed_back = 1;
  nodes.unknown = {"hidden"};
  nodes.num_unknown = 1;
  nodes.first_divergence->node.group = "fused_0";
  const std::string page = render_model_page(result, {});
  EXPECT_THAT(page,
              HasSubstr("1 value could not be compared. 1 group of nodes is computed at once; "
                        "the 4 values inside it need not be returned. 1 value was not returned; "
                        "ignored unknown values: `hidden`.\n"));
  EXPECT_THAT(page, HasSubstr("is at node 3, add of the group fused\\_0 (`aten.add.Tensor`): "));
}

TEST(ModelPageTest, NodesSayWhereItBegins) {
  Result result = make_mismatch();
  result.nodes = make_nodes();
  const std::string page = render_model_page(result, {});
  EXPECT_THAT(page, HasSubstr("8 values compared with those of the model, 2 outside the tolerance. "
                              "1 value could not be compared.\n"));
  EXPECT_THAT(page,
              HasSubstr("**The first difference** is at node 3, add (`aten.add.Tensor`): 12 "
                        "of 2,048 elements wrong, by at most 0.5. Max abs. error 0.5, 12 of "
                        "2,048 (0.586 %) elements outside the tolerance; at `[0, 1]` it gives "
                        "`1.5`, expected `1.25`.\n"));
  EXPECT_THAT(page,
              StartsWith("# Off\n\n❌ **FAILED**: node 3, add: 12 of 2,048 elements wrong, by "
                         "at most 0.5\n"));
  EXPECT_THAT(page, HasSubstr("| input | `x` | `1x2` | `float32` | 0 | 3 | 1 | 1.5 | 0 | 0 |\n"));
  EXPECT_THAT(page, HasSubstr("| **actual** | `add` |"));
  EXPECT_THAT(page, HasSubstr("| 3 | `add` | `aten.add.Tensor` | 2,048 | 0.5 | 1.25e-07 | 12.5 | "
                              "12 | 0.25 | ❌ outside the tolerance |\n"));
  EXPECT_THAT(page, HasSubstr("<summary>Not compared: 1 value</summary>"));
  EXPECT_THAT(page, HasSubstr("| `fused` | the backend \\| lacks it |\n"));
  EXPECT_THAT(page, HasSubstr("Values were requested one by one.\n"));
  result.nodes->note = "values were asked for; one by one";
  result.nodes->error = "it ended";
  const std::string other = render_model_page(result, {});
  EXPECT_THAT(other, HasSubstr("\nValues were asked for; one by one.\n"));
  EXPECT_THAT(other, HasSubstr("\nThe comparison could not be completed: it ended.\n"));
}

TEST(ModelPageTest, ValuesThatWereNotJudgedAreNotRight) {
  Result result = make_result();
  NodeReport& nodes =
      result.nodes.emplace(NodeReport{.num_compared = 1200, .num_right_locally = 4});
  const std::string counts =
      "1,200 values compared with those of the model: 1,1{} within the tolerance, 4 right for the "
      "values that the run returned before them";
  EXPECT_THAT(render_model_page(result, {}),
              HasSubstr(fmt::format(fmt::runtime(counts), 96) + "."));
  nodes.num_mismatched = nodes.num_exonerated = 1;
  nodes.num_not_judged = 2;
  nodes.not_judged = {{"fused", "it draws | numbers"}, {"n2", "it draws | numbers"}};
  const std::string page = render_model_page(result, {});
  EXPECT_THAT(page, HasSubstr(fmt::format(fmt::runtime(counts), 93) +
                              ", 1 wrong, 2 not judged. Of the wrong ones, 1 does no harm: the "
                              "nodes that read it are right."));
  EXPECT_THAT(page, HasSubstr("<summary>Not judged: 2 values</summary>\n\n"
                              "| Value | Reason |\n|---|---|\n"
                              "| `fused` | it draws \\| numbers |\n"));
}

TEST(ModelPageTest, ExoneratedValuesAndModulesAreNamed) {
  Result result = make_result();
  result.nodes = make_nodes();
  result.nodes->first_divergence->node.module = "layers.0";
  result.nodes->exonerated = result.nodes->worst;
  result.nodes->num_exonerated = 1;
  const std::string page = render_model_page(result, {});
  EXPECT_THAT(page, HasSubstr("2 outside the tolerance. Of these, 1 does no harm: "
                              "the nodes that read it are right."));
  EXPECT_THAT(page, HasSubstr("is at node 3, add in layers.0 (`aten.add.Tensor`): "));
  EXPECT_THAT(
      page,
      HasSubstr("<summary>1 value outside the tolerance, read by nodes that are right</summary>"));
}

TEST(ModelPageTest, ModulesHaveTheirGreatestDifferences) {
  Result result = make_result();
  EXPECT_THAT(render_model_page(result, {}), Not(HasSubstr("## Modules")));
  result.graph->nodes.at(0).module = "layers.0";
  EXPECT_THAT(render_model_page(result, {}),
              HasSubstr("| Module | Nodes | Multiply-adds | Parameters |\n"));
  result.nodes = make_nodes();
  result.nodes->errors = {{.index = 0, .max_diff = 0.25}};
  EXPECT_THAT(
      render_model_page(result, {}),
      testing::ContainsRegex("\\| `layers.0` \\| 1 \\| [0-9,]+ \\| [0-9,]+ \\| 0.25 \\|\n"));
}

TEST(ModelPageTest, WhereNothingWasComparedItSaysWhy) {
  Result result = make_result();
  result.trials[0].verification.output_details.clear();
  result.nodes.emplace();
  std::string page = render_model_page(result, {});
  EXPECT_THAT(page, HasSubstr("✅ **PASSED**, but nothing was compared: the expected outputs are "
                              "unknown.\n"));
  EXPECT_THAT(page, HasSubstr("| nothing compared: the expected outputs are unknown |\n"));
  EXPECT_THAT(page,
              HasSubstr("No value was compared: the graph has no values other than its inputs.\n"));
  result.nodes->skipped = make_nodes().skipped;
  result.nodes->num_skipped = 2;
  page = render_model_page(result, {});
  EXPECT_THAT(page, HasSubstr("2 values could not be compared. The first, `fused`: "));
  EXPECT_THAT(page, Not(HasSubstr("0 values")));
}

TEST(ModelPageTest, NanHasARowOfItsOwnInTheHistogram) {
  Result result = make_mismatch();
  TensorComparison& c = result.trials[1].verification.output_details[0].comparison;
  c.histogram.back() = 5;
  c.num_nan = 3;
  const std::string page = render_model_page(result, {});
  EXPECT_THAT(page, HasSubstr("\n  >= 1e3  █ 2\n     NaN  █ 3\n"));
  c.num_nan = std::nullopt;
  EXPECT_THAT(render_model_page(result, {}), Not(HasSubstr("     NaN ")));
}

TEST(ModelPageTest, AReproducerComesWithItsCommand) {
  Result result = make_mismatch();
  result.reproducer = Reproducer{.trial = "zeros and ones",
                                 .num_nodes = 2,
                                 .first_node = "mul",
                                 .last_node = "add",
                                 .command = "harness --ir .",
                                 .message = "12 of 2048 differ"};
  const std::string page = render_model_page(result, {});
  EXPECT_THAT(page,
              HasSubstr("has 2 nodes, from `mul` to `add`. Its inputs are the values that the "
                        "model computes before it in the trial “zeros and ones”. It is in "
                        "[`repro/Off/`](repro/Off/):\n"));
  EXPECT_THAT(page, HasSubstr("```\n12 of 2048 differ\n```\n"));
  EXPECT_THAT(page, HasSubstr("```sh\nharness --ir .\n```\n"));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("rogram")), Not(HasSubstr("of these reports"))));
  RunContext context;
  context.settings.backend = "chip";
  EXPECT_THAT(render_model_page(result, context),
              HasSubstr("`harness` stands for the program that links the backend.\n"));
  context.program = "chip_harness";
  EXPECT_THAT(render_model_page(result, context),
              HasSubstr("the program that links the backend, here `chip_harness`.\n"));
}

TEST(ModelPageTest, AReproducerMayBeTheWholeGraph) {
  Result result = make_mismatch();
  result.reproducer =
      Reproducer{.trial = "normal values", .num_nodes = 1, .first_node = "add", .last_node = "add"};
  EXPECT_THAT(render_model_page(result, {}),
              HasSubstr("\nThe reproducer is the whole graph, 1 node, with the inputs of the trial "
                        "“normal values”. It is in [`repro/Off/`](repro/Off/):\n"));
}

TEST(ModelPageTest, AReproducerOfAnExecutorSaysWhereItsProgramRuns) {
  Result result = make_mismatch();
  result.reproducer = Reproducer{.command = "harness --ir . --executor 'sim {ir}'"};
  RunContext context;
  context.settings.executor = "sim {ir}";
  EXPECT_THAT(
      render_model_page(result, context),
      HasSubstr("```sh\nharness --ir . --executor 'sim {ir}'\n```\n\nIf the executor's "
                "command names files relative to another folder, run this there instead, with "
                "`--ir DIR/repro/Off --output NEW` in place of `--ir .`, where `DIR` is the "
                "folder of these reports.\n"));
}

TEST(ModelPageTest, ExpectedFailuresAndUnexpectedPassesSayWhy) {
  Result result = make_mismatch();
  result.expected_failure =
      ExpectedFailure{.kind = FailureKind::kOutputMismatch, .reason = "rounds <twice>"};
  EXPECT_THAT(render_model_page(result, {}),
              HasSubstr("🟡 **EXPECTED FAILURE**: output mismatch in the stage **verify**. "
                        "Reason: rounds \\<twice\\>\n"));
  result.expected_failure->kind = FailureKind::kCrashed;
  EXPECT_THAT(render_model_page(result, {}),
              HasSubstr("❌ **FAILED**: output 'add' differs. Expected a "
                        "different failure (crashed: rounds \\<twice\\>).\n"));
  Result passing = make_result();
  passing.expected_failure = result.expected_failure;
  EXPECT_THAT(render_model_page(passing, {}),
              HasSubstr("❌ **UNEXPECTED PASS**: the model passes but is expected to fail "
                        "(crashed: rounds \\<twice\\>). Remove the expectation from its "
                        "registration."));
  RunContext context;
  context.expected_failures = "known.txt";
  EXPECT_THAT(render_model_page(passing, context),
              HasSubstr("Remove the expectation from its registration or from `known.txt`."));
  passing.origin = ModelFiles{.path = "tiny.pt2"};
  EXPECT_THAT(render_model_page(passing, context),
              HasSubstr("Remove the expectation from `known.txt`."));
}

TEST(ModelPageTest, SecondsAreForThoseWhoAsk) {
  Result result = make_result();
  result.stage_seconds = {0.25, 0.5, 1, 2};
  EXPECT_THAT(render_model_page(result, {}), Not(HasSubstr("Seconds")));
  const std::string page = render_model_page(result, {.timings = true});
  EXPECT_THAT(page, HasSubstr("| Stage | Result | | Seconds |\n|---|---|---|--:|\n| extract | "));
  EXPECT_THAT(page, HasSubstr("no weights in memory | 0.250 |\n| serialize | "));
  result.executor = ExecutorReport{.num_nodes = 2, .seconds = 0.125};
  EXPECT_THAT(render_model_page(result, {}), Not(HasSubstr("0.125")));
  EXPECT_THAT(render_model_page(result, {.timings = true}),
              HasSubstr("; 0.125 s as measured by the executor | 1.000 |\n"));
}

TEST(ModelPageTest, SaysWhatPassedButOnTheHost) {
  Result result = make_result();
  result.executor = ExecutorReport{.num_nodes = 2, .nodes = {{"relu", {.place = "host"}}}};
  EXPECT_THAT(
      render_model_page(result, {}),
      StartsWith("# Tiny\n\n✅ **PASSED**, but 1 of 2 nodes on the host: the outputs match "));
}

TEST(ModelPageTest, ListsWhatRanWhere) {
  Result result = make_result();
  result.executor = ExecutorReport{.num_nodes = 6};
  result.executor->nodes = {
      {"cumsum", {.op_type = "aten.cumsum.default", .place = "host", .seconds = 0.004}},
      {"topk", {.op_type = "aten.topk.default", .place = "host", .seconds = 0.006}},
      {"topk_1", {.op_type = "aten.topk.default", .place = "host"}},
      {"odd|name", {.op_type = "higher_order.cond", .place = "dsp|0", .seconds = 0.03}}};
  EXPECT_THAT(render_model_page(result, {}),
              HasSubstr("\n\n| Place | Nodes | Operators | Names |\n|---|--:|---|---|\n"
                        "| dsp\\|0 | 1 | cond 1 | `odd\\|name` |\n"
                        "| host | 3 | topk 2, cumsum 1 | `cumsum`, `topk`, `topk_1` |\n"
                        "| not reported | 2 |  |  |\n\n"));
  EXPECT_THAT(
      render_model_page(result, {.timings = true}),
      HasSubstr(" Names | Seconds | Share |\n|---|--:|---|---|--:|--:|\n"
                "| dsp\\|0 | 1 | cond 1 | `odd\\|name` | 0.03 | 75.0 % |\n"
                "| host | 3 | topk 2, cumsum 1 | `cumsum`, `topk`, `topk_1` | 0.01 | 25.0 % |\n"
                "| not reported | 2 |  |  | 0 | 0.0 % |\n"));
  result.executor->nodes.clear();
  EXPECT_THAT(render_model_page(result, {.timings = true}), Not(HasSubstr("## Places")));
}

TEST(ModelPageTest, ThePictureIsLinkedOrMissedWithAReason) {
  const Result result = make_result();
  EXPECT_THAT(render_model_page(result, {}), Not(HasSubstr("picture")));
  EXPECT_THAT(render_model_page(result, {}, {.svg = "<svg/>"}),
              HasSubstr("A picture of all nodes: [`svg/Tiny.svg`](svg/Tiny.svg).\n"));
  EXPECT_THAT(render_model_page(result, {}, {.problem = "no 'dot'"}),
              HasSubstr("There is no picture of the graph: no 'dot'.\n"));
}

TEST(ModelPageTest, ALargeGraphIsCutAtANamedPlaceOrFolded) {
  const auto page_of = [](int num_nodes) {
    Result result = make_result();
    const OpNode node = result.graph->nodes[0];
    for (int i = 1; i < num_nodes; ++i) {
      OpNode& copy = result.graph->nodes.emplace_back(node);
      copy.name = copy.outputs[0].name = "add_" + std::to_string(i);
    }
    return render_model_page(result, {}, {.svg = "<svg/>"});
  };
  const std::string cut = page_of(60);
  EXPECT_THAT(cut, HasSubstr("The diagram ends after node `add_29` (30 of 60 nodes)."));
  EXPECT_THAT(cut, HasSubstr("[![The graph of Tiny](svg/Tiny.svg)](svg/Tiny.svg)\n"));
  const std::string folded = page_of(61);
  EXPECT_THAT(folded, HasSubstr("The diagram shows its modules."));
  EXPECT_THAT(folded, HasSubstr("add.Tensor ×61"));
  EXPECT_THAT(folded, HasSubstr("A picture of its modules, which open in `index.html`: "));
}

TEST(ModelPageTest, TheCommandAsksForTheSameAgain) {
  RunContext context;
  context.settings.trials = 5;
  context.settings.executor = "run 'it' {ir} {outputs}";
  context.options = {"--trials", "5", "--executor", "run {ir}"};
  context.environment = {{"LibTorch", "2.13.0"}, {"CPU instructions", "AVX2"}};
  const std::string page = render_model_page(make_result(), context);
  EXPECT_THAT(page, HasSubstr("-- --model Tiny --trials 5 --executor 'run {ir}'\n"));
  EXPECT_THAT(page, HasSubstr("| an external program |  | 1 | 0 | 1 |\n"));
  EXPECT_THAT(page, HasSubstr("last bits: CPU instructions `AVX2`.\n"));
}

TEST(ModelPageTest, TheCommandIsForTheProgramThatRuns) {
  RunContext context;
  context.program = "my harness";
  EXPECT_THAT(render_model_page(make_result(), context),
              HasSubstr("```sh\n'my harness' --model Tiny\n```\n"));
  EXPECT_THAT(summary_of({}, {}, context), HasSubstr("```sh\n'my harness'\n```\n"));
  // //harness has none.
  context.settings.backend = "chip";
  context.program.clear();
  EXPECT_THAT(render_model_page(make_result(), context),
              HasSubstr("```sh\nharness --model Tiny\n```\n"));
}

TEST(ModelPageTest, ATrialThatCouldNotBeComparedSaysWhy) {
  Result result = make_mismatch();
  result.trials[1].verification.output_details.clear();
  result.trials[1].verification.error_message = "2 outputs, expected *1*";
  const std::string page = render_model_page(result, {});
  EXPECT_THAT(page, HasSubstr("| large magnitudes | ❌ failed |  |  |  |  |\n"));
  EXPECT_THAT(page, HasSubstr("\n2 outputs, expected \\*1\\*\n"));
  EXPECT_THAT(page, Not(HasSubstr("### Outputs")));
}

TEST(ModelPageTest, LinksLeadToFilesOfAnyName) {
  Result result = make_result();
  result.name = "a b(1)";
  EXPECT_THAT(render_model_page(result, {}, {.svg = "<svg/>"}),
              HasSubstr("[`svg/a b(1).svg`](svg/a%20b%281%29.svg)"));
  EXPECT_THAT(summary_of({result}), HasSubstr("| [a b(1)](a%20b%281%29.md) |"));
}

}  // namespace
}  // namespace torch_ir
