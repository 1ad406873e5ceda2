// What only hand-made results show on the page of a model; reports/reference has the rest.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/report/testing/page_test_results.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string page_of(const Result& result, const RunContext& context = {}) {
  return render_model_page(result, context);
}

TEST(ModelPageTest, TheMaximumDifferenceIsThatOfAllTrialsAndLinksLeadToFilesOfAnyName) {
  Result result = make_result(0.0188);
  result.name = "a b(1)";
  result.trials.push_back(result.trials[0]);
  VerificationReport& other = result.trials[1].verification;
  other.max_diff = 0.0206;
  other.output_details[0].comparison.smallest_passing_tolerance = 0;
  ASSERT_EQ(result.worst_trial(), &result.trials[0]);
  expect_in(render_model_page(result, {}, {.svg = "<svg/>"}),
            {"Max abs. error: 0.0206\n", "[`svg/a b(1).svg`](svg/a%20b%281%29.svg)"});
  expect_in(summary_of({result}),
            {"| [a b(1)](a%20b%281%29.md) |", "| 0.0206 | inf | 1 | 0.0047 |  |\n"});
}

TEST(ModelPageTest, NamesWhatWasNotCountedNotTriedAndNotDrawn) {
  Result result = make_result();
  result.graph->nodes[0].op_type = "my.op.default";
  result.not_tried = {"zeros and ones: the model raises not *positive*", "s0 = 2: no"};
  expect_in(render_model_page(result, {}, {.problem = "no 'dot'"}),
            {"Not counted: my.op.default (1 node), unknown operator",
             "|\n\nNot tried with zeros and ones: the model raises not \\*positive\\*.\n\n"
             "Not tried with s0 = 2: no.\n\nExpected outputs",
             "There is no picture of the graph: no 'dot'.\n"});
  EXPECT_THAT(summary_of({result}), HasSubstr(" | ≥ 0 | "));
}

Result make_imported(const ModelFiles& origin) {
  Result result = make_result(2.5e-7);
  result.description.clear();
  result.origin = origin;
  return result;
}

TEST(ModelPageTest, AnImportedModelSaysWhereItIsFrom) {
  const std::string page = page_of(make_imported({.path = "my models/tiny.pt2",
                                                  .inputs = {"../tiny.in.safetensors"},
                                                  .expected = {"tiny.out.safetensors"}}));
  EXPECT_THAT(page, StartsWith("# Tiny\n\n✅ **PASSED**: the outputs match those in "
                               "`tiny.out.safetensors`. Max abs. error: 2.5e-07\n\n"
                               "Imported from `tiny.pt2`, exported by PyTorch 2.13.0 from "
                               "`Tiny`.\n\nCategories: "));
  expect_in(page, {"1 node, read from the archive without executing anything in it |",
                   "archive's weights and the inputs in `tiny.in.safetensors` |\n",
                   "with those in `tiny.out.safetensors`, all within the tolerance |",
                   "the graph gives `1.5`, expected `1.25`.",
                   // As the user named them.
                   "-- --pt2 'my models/tiny.pt2'\n```\n"});
  expect_in(page_of(make_imported({.path = "tiny.pt2"})),
            {"the outputs match those of its operators run one by one. Max",
             "with the archive's weights and example inputs |\n",
             "No file gives expected outputs. Expected outputs are those of the model's operators, "
             "each called eagerly on the imported program, before it was converted and written"});
  // What a file expects is compared once.
  RunContext context;
  context.settings.trials = 5;
  Result failed = make_imported({.path = "tiny.pt2", .inputs = {"in"}});
  failed.failure = Failure();
  EXPECT_THAT(page_of(failed, context), HasSubstr("| `exact` | `cpu` | 1 | 0 | 5 |\n"));
  failed.origin->expected = {"out"};
  EXPECT_THAT(page_of(failed, context), HasSubstr("| `exact` | `cpu` | 1 | 0 | 1 |\n"));
}

TEST(ModelPageTest, AGraphSaysWhereItIsFrom) {
  ModelFiles files{.format = FileFormat::kGraph,
                   .path = "tiny",
                   .inputs = {"tiny/inputs.safetensors"},
                   .expected = {"tiny/expected.safetensors"}};
  expect_in(
      page_of(make_imported(files)),
      {"\n\nThe graph of `tiny`.\n\nCategories: ",
       "| extract | ✅ passed | 1 node, read from the file |\n",
       "weights beside the graph and the inputs in `inputs.safetensors` |", "-- --ir tiny\n```\n"});
  files.path = "reports/repro/tiny";
  files.expected.clear();
  expect_in(page_of(make_imported(files), {.output = "again"}),
            {"-- --ir reports/repro/tiny --output again\n",
             "each called eagerly by the dispatcher, with the same weights"});
}

TEST(ModelPageTest, SizesThatDifferNewValuesOfBuffersAndExactIntegersAreShown) {
  Result result = make_result();
  TensorMeta& input = result.graph->graph_inputs[0];
  input.shape = {kDynamicSize, kDynamicSize, 2};
  input.symbolic_shape = {"s0", "2*s0", ""};
  result.graph->nodes[0].inputs[0] = input;
  result.graph->weight_name_mapping.insert("b_count", "mask");
  result.graph->graph_outputs[0].mutates = "b_count";
  ValueDetail& detail = result.trials[0].verification.output_details[0];
  detail.tolerance = {.rtol = 0, .atol = 0};
  detail.comparison.dtype = "int64";
  expect_in(page_of(result), {"| Input | `x` | `s0x(2*s0)x2` | `float32` |\n",
                              "| Output | `add`, new value of `b_count` | `1x2` |",
                              "The tolerance is rtol = 0.0001 and atol = 0.0001; integers and "
                              "booleans are compared exactly.\n"});
}

TEST(ModelPageTest, NodesOfGraphsFollowTheirNode) {
  Result result = make_result();
  const auto sub = [](const char* name) { return node(name, "aten.sub.Tensor", {}, {}); };
  const std::vector<TensorMeta> values = {meta("v", {2})};
  result.graph->nodes[0].op_type = "higher_order.cond";
  result.graph->nodes[0].graphs = {
      {.graph_inputs = values, .graph_outputs = values, .nodes = {sub("a"), sub("b")}},
      {.graph_inputs = values, .graph_outputs = values, .nodes = {sub("c"), sub("d")}}};
  result.graph->nodes.push_back(sub("sub"));
  const std::string page = page_of(result);
  size_t at = 0;
  for (const char* row : {"| 0 | `add`", "| 0.0.0 | `a`", "| 0.0.1 | `b`", "| 0.1.0 | `c`",
                          "| 0.1.1 | `d`", "| 1 | `sub`"}) {
    at = page.find(row, at);
    EXPECT_NE(at, std::string::npos) << row;
  }
}

TEST(ModelPageTest, AFailureComesFirst) {
  Result result = make_failure();
  result.origin = ModelFiles{.path = "broken.pt2"};
  EXPECT_THAT(
      page_of(result),
      AllOf(StartsWith("# Broken\n\n❌ **FAILED**: extract failed: aten::item | needs data\n\n"
                       "The message of the stage **extract** (extract failed):\n\n"
                       "```\naten::item | needs data\nmore\n```\n\n"
                       "Last lines of its output:\n\n```\nstderr\n```\n\n"
                       "Imported from `broken.pt2`.\n\n"),
            HasSubstr("| extract | ❌ failed | extract failed |\n| serialize | not run |  |\n"),
            Not(HasSubstr("## Graph")), Not(HasSubstr("## Numerical verification"))));
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
  const std::string page = page_of(result);
  for (const char c : page) {
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ') << static_cast<int>(c);
  }
  EXPECT_THAT(page, HasSubstr("\n```\na\\x1b[31m\nb\\x07\\x0d\n```\n"));
}

TEST(ModelPageTest, SavedTensorsComeWithTheCommandThatReplaysThem) {
  RunContext context;
  context.settings.save_tensors = true;
  Result result = make_result();
  EXPECT_THAT(page_of(result, context),
              HasSubstr("run this in the folder of this page:\n\n```sh\ntorch-ir verify "
                        "ir/Tiny.json --weights tensors/Tiny.weights.safetensors \\\n    --inputs "
                        "tensors/Tiny.inputs.safetensors --expected "
                        "tensors/Tiny.expected.safetensors --rtol 0.0001 --atol 0.0001\n"));
  result.trials[0].verification.tolerance = {.by_dtype = true,
                                             .outputs = {{0, {.rtol = 0, .atol = 2}}}};
  context.settings.criterion.reference = ReferenceKind::kModel;
  EXPECT_THAT(page_of(result, context),
              AllOf(HasSubstr("# the harness compares output 0 with rtol 0, atol 2\ntorch-ir "),
                    HasSubstr("expected.safetensors --tolerance dtype\n")));
}

TEST(ModelPageTest, AMismatchIsShownWithAllFiguresOrWhyThereAreNone) {
  Result result = make_mismatch();
  VerificationReport& worst = result.trials[1].verification;
  TensorComparison& c = worst.output_details[0].comparison;
  c.histogram.back() = 5;
  c.num_nan = 3;
  expect_in(page_of(result),
            {"| normal values | ✅ passed | 2.5e-07 | 1.25e-07 | 0 | 6.25e-08 |\n"
             "| large magnitudes | ❌ failed | 0.5 | 1.25e-07 | 12 | 0.25 |\n",
             ", in the worst trial, large magnitudes.\n",
             "#### `add`\n\nWorst element: at `[0, 1]` the graph gives `1.5`, the model "
             "gives `1.25`.\n\n| Figure | Value | Figure | Value |\n|---|--:|---|--:|\n"
             "| Max abs. error | 0.5 | Mean abs. error | 1.25e-07 |\n"
             "| RMSE | 0.125 | Max relative error | 2 |\n"
             "| SNR (dB) | 12.5 | Cosine similarity | 0.75 |\n"
             "| Max ULP distance | 4096 | Outside the tolerance | 12 of 2,048 (0.586 %) |\n\n"
             "Elements by absolute error:\n\n"
             "```text\n   equal  ████████████████████████████████████████ 2,000\n"
             "  < 1e-1  █ 48\n  >= 1e3  █ 2\n     NaN  █ 3\n```\n",
             ", except for outputs registered with their own.\n"});
  worst.output_details.clear();
  worst.error_message = "2 outputs, expected *1*";
  expect_in(page_of(result),
            {"| large magnitudes | ❌ failed |  |  |  |  |\n", "\n2 outputs, expected \\*1\\*\n"});
}

TEST(ModelPageTest, NodesSayWhereItBeginsAndWhatIsComputedAtOnceOrNotHandedBack) {
  Result result = make_mismatch();
  NodeReport& nodes = result.nodes.emplace(make_nodes());
  nodes.error = "it ended";
  expect_in(page_of(result),
            {"8 values compared with those of the model, 2 outside the tolerance. 1 value could "
             "not be compared.\n",
             "\nThe comparison could not be completed: it ended.\n",
             "**The first difference** is at node 3, add (`aten.add.Tensor`): 12 of 2,048 elements "
             "wrong, by at most 0.5. Max abs. error 0.5, 12 of 2,048 (0.586 %) elements outside "
             "the tolerance; at `[0, 1]` it gives `1.5`, expected `1.25`.\n",
             "| input | `x` | `1x2` | `float32` | 0 | 3 | 1 | 1.5 | 0 | 0 |\n"
             "| **actual** | `add` |",
             "| 3 | `add` | `aten.add.Tensor` | 2,048 | 0.5 | 1.25e-07 | 12.5 | 12 | 0.25 | "
             "❌ outside the tolerance |\n",
             "<summary>Not compared: 1 value</summary>\n\n| Value | Reason |\n|---|---|\n"
             "| `fused` | the backend \\| lacks it |\n\n</details>\n",
             "\nValues were requested one by one.\n"});
  nodes.groups = {{"g", {"add"}}};
  nodes.num_inside = 4;
  nodes.num_not_handed_back = 1;
  nodes.unknown = {"hidden"};
  nodes.num_unknown = 1;
  nodes.first_divergence->node.group = "fused_0";
  nodes.first_divergence->node.problem += "; judged by the tolerance alone: it draws";
  nodes.first_divergence->inputs.push_back({.name = "kept"});
  expect_in(page_of(result),
            {"1 value could not be compared. 1 group of nodes is computed at once; the 4 values "
             "inside it need not be returned. 1 value was not returned; ignored unknown values: "
             "`hidden`.\n",
             "is at node 3, add of the group fused\\_0 (`aten.add.Tensor`): 12 of 2,048 elements "
             "wrong, by at most 0.5; judged by the tolerance alone: it draws. Max abs. error",
             " | ❌ outside the tolerance; judged by the tolerance alone: it draws |\n",
             "| input | `kept` | not returned |  |  |  |  |  |  |  |\n"});
}

TEST(ModelPageTest, ValuesThatWereNotJudgedAreNotRightAndModulesHaveTheirDifferences) {
  Result result = make_result();
  EXPECT_THAT(page_of(result), Not(HasSubstr("## Modules")));
  result.graph->nodes.at(0).module = "layers.0";
  NodeReport& nodes =
      result.nodes.emplace(NodeReport{.num_compared = 1200, .num_right_locally = 4});
  nodes.errors = {{.index = 0, .max_diff = 0.25}};
  nodes.num_mismatched = nodes.num_exonerated = 1;
  nodes.num_not_judged = 2;
  nodes.exonerated = make_nodes().worst;
  nodes.not_judged = {{"fused", "it draws numbers"}, {"n2", "it draws numbers"}};
  const std::string page = page_of(result);
  expect_in(page,
            {"1,200 values compared with those of the model: 1,193 within the tolerance, 4 right "
             "for the values that the run returned before them, 1 wrong, 2 not judged. Of the "
             "wrong ones, 1 does no harm: the nodes that read it are right.",
             "<summary>Not judged: 2 values</summary>",
             "<summary>1 value outside the tolerance, read by nodes that are right</summary>"});
  EXPECT_THAT(page, testing::ContainsRegex("\\| `layers.0` \\| 1 \\|.*\\| 0.25 \\|\n"));
}

TEST(ModelPageTest, WhereNothingWasComparedItSaysWhy) {
  Result result = make_result();
  result.trials[0].verification.output_details.clear();
  result.nodes.emplace();
  expect_in(page_of(result),
            {"✅ **PASSED**, but nothing was compared: the expected outputs are unknown.\n",
             "| nothing compared: the expected outputs are unknown |\n",
             "No value was compared: the graph has no values other than its inputs.\n"});
  result.nodes->skipped = make_nodes().skipped;
  result.nodes->num_skipped = 2;
  EXPECT_THAT(page_of(result), HasSubstr("2 values could not be compared. The first, `fused`: "));
}

TEST(ModelPageTest, AReproducerComesWithItsCommand) {
  Result result = make_mismatch();
  result.reproducer = Reproducer{.trial = "zeros and ones",
                                 .num_nodes = 2,
                                 .first_node = "mul",
                                 .last_node = "add",
                                 .command = "harness --ir .",
                                 .message = "12 of 2048 differ"};
  EXPECT_THAT(page_of(result, {.settings = {.backend = "chip"}, .program = "chip_harness"}),
              HasSubstr("has 2 nodes, from `mul` to `add`. Its inputs are the values that the "
                        "model computes before it in the trial “zeros and ones”. It is in "
                        "[`repro/Off/`](repro/Off/):\n\n```\n12 of 2048 differ\n```\n\n"
                        "`actual.safetensors` has the wrong outputs. To see the failure, run this "
                        "in that folder:\n\n```sh\nharness --ir .\n```\n\n`harness` stands for the "
                        "program that links the backend, here `chip_harness`.\n"));
  EXPECT_THAT(page_of(result, {.settings = {.executor = "sim {ir}"}}),
              HasSubstr("```\n\nIf the executor's command names files relative to another folder, "
                        "run this there instead, with `--ir DIR/repro/Off --output NEW` in place "
                        "of `--ir .`, where `DIR` is the folder of these reports.\n"));
  result.reproducer->num_nodes = 1;
  EXPECT_THAT(page_of(result),
              AllOf(HasSubstr("\nThe reproducer is the whole graph, 1 node, with the inputs of the "
                              "trial “zeros and ones”. It is in "),
                    Not(HasSubstr("stands for")), Not(HasSubstr("of these reports"))));
}

TEST(ModelPageTest, ExpectedFailuresAndUnexpectedPassesSayWhy) {
  Result result = make_known("rounds <twice>");
  EXPECT_THAT(page_of(result), HasSubstr("🟡 **EXPECTED FAILURE**: output mismatch in the stage "
                                         "**verify**. Reason: rounds \\<twice\\>\n"));
  result.expected_failure->kind = FailureKind::kCrashed;
  EXPECT_THAT(page_of(result), HasSubstr("❌ **FAILED**: output 'add' differs. Expected a "
                                         "different failure (crashed: rounds \\<twice\\>).\n"));
  Result passing = make_result();
  passing.expected_failure = result.expected_failure;
  EXPECT_THAT(page_of(passing),
              HasSubstr("❌ **UNEXPECTED PASS**: the model passes but is expected "
                        "to fail (crashed: rounds \\<twice\\>). Remove the "
                        "expectation from its registration."));
  const RunContext context{.expected_failures = "known.txt"};
  EXPECT_THAT(page_of(passing, context), HasSubstr("from its registration or from `known.txt`."));
  passing.origin = ModelFiles{.path = "tiny.pt2"};
  EXPECT_THAT(page_of(passing, context), HasSubstr("Remove the expectation from `known.txt`."));
}

TEST(ModelPageTest, SaysWhatRanWhere) {
  Result result = make_result();
  result.executor = ExecutorReport{.num_nodes = 5};
  EXPECT_THAT(page_of(result), Not(HasSubstr("## Places")));
  result.executor->nodes = {{"cumsum", {.op_type = "aten.cumsum.default", .place = "host"}},
                            {"topk", {.op_type = "aten.topk.default", .place = "host"}},
                            {"odd|name", {.op_type = "higher_order.cond", .place = "dsp|0"}}};
  EXPECT_THAT(page_of(result),
              AllOf(StartsWith("# Tiny\n\n✅ **PASSED**, but 2 of 5 nodes on the host: the "),
                    HasSubstr("\n\n| Place | Nodes | Operators | Names |\n|---|--:|---|---|\n"
                              "| dsp\\|0 | 1 | cond 1 | `odd\\|name` |\n"
                              "| host | 2 | cumsum 1, topk 1 | `cumsum`, `topk` |\n"
                              "| not reported | 2 |  |  |\n")));
  EXPECT_THAT(summary_of({make_result(), result}),
              HasSubstr("\n\n| Model | Place | Nodes | Operators | Names |\n|---|---|--:|---|---|\n"
                        "| [Tiny](Tiny.md) | dsp\\|0 | 1 | cond 1 | `odd\\|name` |\n"));
}

TEST(ModelPageTest, ALargeGraphIsCutAtANamedPlaceOrFolded) {
  const auto page_with = [](int num_nodes) {
    Result result = make_result();
    repeat_node(*result.graph, num_nodes);
    return render_model_page(result, {}, {.svg = "<svg/>"});
  };
  expect_in(page_with(60), {"The diagram ends after node `add_29` (30 of 60 nodes).",
                            "[![The graph of Tiny](svg/Tiny.svg)](svg/Tiny.svg)\n"});
  expect_in(page_with(61), {"The diagram shows its modules.", "add.Tensor ×61",
                            "A picture of its modules, which open in `index.html`: "});
}

TEST(ModelPageTest, TheCommandAsksForTheSameAgain) {
  RunContext context{.program = "my harness", .options = {"--executor", "run {ir}"}};
  context.settings.executor = "run 'it' {ir} {outputs}";
  context.environment = {{"LibTorch", "2.13.0"}, {"CPU instructions", "AVX2"}};
  expect_in(page_of(make_result(), context),
            {"\n'my harness' --model Tiny --executor 'run {ir}'\n",
             "| an external program |  | 1 | 0 | 1 |\n", "last bits: CPU instructions `AVX2`.\n"});
}

TEST(ModelPageTest, OwnErrorsOfOutputsStandBesideTheComparisonWithTheModel) {
  Result result = make_result(2.5e-7);
  EXPECT_THAT(page_of(result), Not(HasSubstr("Own error")));
  ValueDetail& output = result.trials[0].verification.output_details[0];
  output.own_error = OwnError{.rms_ratio = 2.5};
  output.basis = Basis::kOwnError;
  EXPECT_THAT(page_of(result), HasSubstr(" | 2.5 | 0 | right by its own error |\n"));
  EXPECT_THAT(summary_of({result}), HasSubstr(" | 2.5 |\n"));
  output.own_error->problem = output.problem = "an RMS error of 30 times eager's; the limit is 4";
  result.trials[0].verification.criterion = {.reference = ReferenceKind::kFloat64};
  EXPECT_THAT(
      page_of(result),
      AllOf(HasSubstr(" | 2.5 | 0 | ❌ an RMS error of 30 times eager's; the limit is 4 |\n"),
            HasSubstr("### Criterion\n\nAn output passes if its error against the graph "
                      "in float64 is at most 4 times that of eager operators."),
            Not(HasSubstr("### Tolerance\n"))));
}

TEST(ModelPageTest, OwnErrorsOfNodesStandBesideAccumulatedOnes) {
  Result result = make_result(2.5e-3);
  ValueDetail detail{.index = 3, .node = "add", .op_type = "aten.add.Tensor", .value = "add"};
  detail.comparison.max_diff = 0.5;
  detail.own_error = {.rms_ratio = 6.1, .max_ratio = 4, .slope = 0.01, .problem = "an RMS error"};
  detail.problem = detail.own_error->problem;
  NodeReport& nodes = result.nodes.emplace();
  nodes.num_compared = nodes.num_mismatched = 1;
  nodes.worst = {detail};
  nodes.first_divergence = {.node = detail};
  expect_in(page_of(result),
            {"| 6.1 | 4 | +1 | ❌ an RMS error |\n",
             "(`aten.add.Tensor`): 1 % too large. By itself, computed from the values that the run "
             "returned before it, it has an RMS error.\n\n"
             "Faulty operators: `aten.add.Tensor` in 1 of 1 call.\n"});
}

TEST(ModelPageTest, WrongStateFollowsTheNodes) {
  Result result = make_mismatch();
  std::vector<ValueDetail>& outputs = result.trials[1].verification.output_details;
  outputs[0].index.reset();
  outputs[0].value = "cache";
  outputs[0].problem = "differs";
  result.nodes = make_nodes();
  const std::string page = page_of(result);
  const size_t state = page.find("|  | `cache` |");
  ASSERT_NE(state, std::string::npos);
  EXPECT_LT(page.find("| 3 | `add` |"), state);
}

TEST(ModelPageTest, SaysHowFarAnOutputIsFromFloat64OrWhichValueIsNotHeld) {
  Result result = make_result(2.5e-3);
  VerificationReport& report = result.trials[0].verification;
  report.arithmetic = {
      .arithmetic = Arithmetic::kFloat16,
      .has_executor = true,
      .outputs = {{.name = "add", .signal_to_noise = 62.5}},
      .losses = {
          {{.index = 3, .node = "mul", .op_type = "aten.mul.Tensor", .value = "mul"}, 60, 7}}};
  report.output_details[0].own_error = {.rms_ratio = 1.25, .max_ratio = 1.5, .signal_to_noise = 61};
  expect_in(page_of(result), {"## In float16\n\nfloat16 can hold this model. Eager operators ran",
                              " | `add` | 62.5 | 61 | 1.25 | 1.5 |  |\n",
                              "| 3 | `mul` | `aten.mul.Tensor` |  | 60.0 | 7.0 |\n"});
  report.arithmetic = {
      .arithmetic = Arithmetic::kFloat16,
      .first_lost = LostValue{{.index = 3, .node = "pow_3", .value = "pow_3", .module = "norm"}}};
  EXPECT_EQ(result.status(), Status::kNotHeld);
  EXPECT_FALSE(result.is_good());
  EXPECT_THAT(summary_of({result}), HasSubstr("0 of 1 models passed**, 1 not held by the compute"));
  report.arithmetic->has_executor = true;
  EXPECT_TRUE(result.is_good());
  EXPECT_THAT(
      page_of(result),
      HasSubstr("🟡 **NOT HELD**: float16 cannot hold this model: first infinity at `pow_3` "
                "in `norm`. The executor is right up to there."));
}

}  // namespace
}  // namespace torch_ir
