#include "torch_ir/harness/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "torch_ir/harness/mermaid_blocks.h"
#include "torch_ir/visualize/mermaid_rules.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TensorMeta value(const std::string& name, std::vector<int64_t> shape) {
  TensorMeta meta;
  meta.name = name;
  meta.shape = std::move(shape);
  meta.dtype = "float32";
  return meta;
}

// y = x + w, with attributes.
IR make_graph() {
  IR ir;
  ir.model_name = "Tiny";
  ir.pytorch_version = "2.13.0";
  ir.graph_inputs = {value("x", {1, 2})};
  ir.graph_outputs = {value("add", {1, 2})};
  ir.weights = {value("w", {1200}), value("mask", {2})};
  ir.weight_name_mapping.insert("p_w", "w");
  ir.weight_name_mapping.insert("c_mask", "mask");
  OpNode& node = ir.nodes.emplace_back();
  node.name = "add";
  node.op_type = "aten.add.Tensor";
  node.inputs = {value("x", {1, 2}), value("p_w", {2})};
  node.inputs[0].producer_node = "x";
  node.outputs = {value("add", {1, 2})};
  node.attrs.set("alpha", Attribute(2));
  node.attrs.set("flag", Attribute(true));
  return ir;
}

ModelResult make_result(double max_diff = 0) {
  ModelResult result{.name = "Tiny", .description = "One | add", .categories = {"a", "b_c"}};
  result.num_passed_stages = kStages.size();
  result.graph = make_graph();
  VerificationReport& report = result.trials.emplace_back().verification;
  report.is_valid = true;
  report.max_diff = max_diff;
  report.mean_diff = max_diff / 2;
  report.tolerance.fixed = {.rtol = 1e-4, .atol = 1e-4};
  OutputDetail& detail = report.output_details.emplace_back();
  detail.name = "add";
  detail.comparison.is_close = true;
  detail.comparison.max_diff = max_diff;
  detail.comparison.mean_diff = max_diff / 2;
  detail.comparison.num_elements = 2048;
  detail.comparison.smallest_passing_tolerance = max_diff / 4;
  if (max_diff != 0) {
    detail.comparison.worst_index = {0, 1};
    detail.comparison.worst_actual = "1.5";
    detail.comparison.worst_expected = "1.25";
  }
  return result;
}

ModelResult make_failure() {
  ModelResult result{.name = "Broken", .description = "", .categories = {"a"}};
  result.failure = Failure{
      .stage = Stage::kExtract, .message = "aten::item | needs data\nmore", .output = "stderr"};
  return result;
}

TEST(ModelPageTest, HasEveryPart) {
  const std::string page = render_model_page(make_result(), {});
  EXPECT_THAT(page, StartsWith("# Tiny\n\n✅ **PASSED**: the graph computes what the model "
                               "computes. Maximum difference: 0\n\nOne | add\n"));
  EXPECT_THAT(page, HasSubstr("Categories: `a`, `b_c`\n"));
  EXPECT_THAT(page, HasSubstr("| Nodes | Edges | Inputs | Outputs | Weights | Total parameters |\n"
                              "|--:|--:|--:|--:|--:|--:|\n"
                              "| 1 | 2 | 1 | 1 | 2 | 1,202 |\n"));
  EXPECT_THAT(page, HasSubstr("| Input | `x` | `1x2` | `float32` |\n"
                              "| Output | `add` | `1x2` | `float32` |\n"));
  EXPECT_THAT(page, HasSubstr("| extract | ✅ passed | 1 node, captured"));
  EXPECT_THAT(page, HasSubstr("| verify | ✅ passed | 1 output compared"));
  EXPECT_THAT(page, HasSubstr("| 0 | `add` | 2,048 | 0 | 0 | 0 | 0 |\n"));
  EXPECT_THAT(page, HasSubstr("with rtol = 0.0001 and atol = 0.0001."));
  EXPECT_THAT(page, HasSubstr("```mermaid\nflowchart TD\n"));
  EXPECT_THAT(page, HasSubstr("```mermaid\npie showData"));
  EXPECT_THAT(page, HasSubstr("[`ir/Tiny.json`](ir/Tiny.json)"));
  EXPECT_THAT(page, HasSubstr("<details>\n<summary>1 node in"));
  EXPECT_THAT(page, HasSubstr("| 0 | `add` | `aten.add.Tensor` | `x` `p_w` | `1x2 float32` | "
                              "`alpha=2` `flag=True` |\n"));
  EXPECT_THAT(page, HasSubstr("| `w` | parameter | `p_w` | `1200` | `float32` | 1,200 |\n"
                              "| `mask` | constant | `c_mask` | `2` | `float32` | 2 |\n"));
  EXPECT_THAT(page, HasSubstr("| LibTorch | Optimization level | Device | Threads | Seed |"));
  EXPECT_THAT(page, HasSubstr("| `exact` | `cpu` | 1 | 0 |"));
  EXPECT_THAT(page, HasSubstr("```sh\ntools/bazel run //harness -- --model Tiny\n```\n"));
  EXPECT_THAT(page, Not(HasSubstr("torch-ir verify")));
}

TEST(ModelPageTest, BlankLinesAreSingleButInCode) {
  EXPECT_THAT(render_model_page(make_result(), {}), Not(HasSubstr("\n\n\n")));
  ModelResult failed = make_failure();
  failed.failure->message = "one\n\n\ntwo";
  EXPECT_THAT(render_model_page(failed, {}), HasSubstr("```\none\n\n\ntwo\n```\n"));
}

TEST(ModelPageTest, DiagramsObeyMermaidsRules) {
  const std::vector<std::string> blocks = mermaid_blocks(render_model_page(make_result(), {}));
  ASSERT_EQ(blocks.size(), 2u);
  for (const std::string& block : blocks) EXPECT_THAT(check_mermaid(block), IsEmpty()) << block;
}

TEST(ModelPageTest, ADifferenceIsShownWithItsPlaceAndTolerance) {
  const std::string page = render_model_page(make_result(2.5e-7), {});
  EXPECT_THAT(page, HasSubstr("Maximum difference: 2.5e-07\n"));
  EXPECT_THAT(page, HasSubstr("| 0 | `add` | 2,048 | 2.5e-07 | 1.25e-07 | 0 |"));
  EXPECT_THAT(page,
              HasSubstr("Worst element of `add`: at `[0, 1]` the graph gives `1.5`, the model "
                        "gives `1.25`."));
}

TEST(ModelPageTest, SeveralOutputsHaveATotal) {
  ModelResult result = make_result(2.5e-7);
  EXPECT_THAT(render_model_page(result, {}), Not(HasSubstr("**All**")));
  result.trials[0].verification.output_details.push_back(
      result.trials[0].verification.output_details[0]);
  EXPECT_THAT(render_model_page(result, {}), HasSubstr("| **All** | **4,096** | **2.5e-07** |"));
}

ModelResult make_imported(const Origin& origin) {
  ModelResult result = make_result(2.5e-7);
  result.description.clear();
  result.categories = {"imported"};
  result.origin = origin;
  return result;
}

TEST(ModelPageTest, AnImportedModelSaysWhereItIsFrom) {
  const std::string page = render_model_page(make_imported({.archive = "tiny.pt2",
                                                            .inputs = "tiny.in.safetensors",
                                                            .expected = "tiny.out.safetensors"}),
                                             {});
  EXPECT_THAT(page, StartsWith("# Tiny\n\n✅ **PASSED**: the graph computes what "
                               "`tiny.out.safetensors` says. Maximum difference: 2.5e-07\n\n"
                               "Imported from `tiny.pt2`, which PyTorch 2.13.0 exported from "
                               "`Tiny`.\n\nCategories: `imported`\n"));
  EXPECT_THAT(page,
              HasSubstr("| extract | ✅ passed | 1 node, read from the archive; nothing in it "
                        "was executed |\n"));
  EXPECT_THAT(page, HasSubstr("| execute | ✅ passed | what was read back, with the weights of the "
                              "archive and the inputs in `tiny.in.safetensors` |\n"));
  EXPECT_THAT(page, HasSubstr("| verify | ✅ passed | 1 output compared with those in "
                              "`tiny.out.safetensors`, all within the tolerance |\n"));
  EXPECT_THAT(page, HasSubstr("the graph gives `1.5`, expected is `1.25`."));
  EXPECT_THAT(page, HasSubstr(" Expected is what `tiny.out.safetensors` says.\n"));
  EXPECT_THAT(page, HasSubstr("```sh\ntools/bazel run //harness -- --pt2 tiny.pt2 --inputs "
                              "tiny.in.safetensors --expected tiny.out.safetensors\n```\n\n"
                              "Files and folders are named without the folders that they lie "
                              "in.\n"));
}

TEST(ModelPageTest, AnImportedModelWithoutTensorsIsComparedWithItsOperators) {
  const std::string page = render_model_page(make_imported({.archive = "my tiny's.pt2"}), {});
  EXPECT_THAT(page, HasSubstr("the graph computes what its operators compute one by one. Max"));
  EXPECT_THAT(page, HasSubstr("with the weights and the example inputs of the archive |\n"));
  EXPECT_THAT(page, HasSubstr("compared with what the operators compute one by one, all"));
  EXPECT_THAT(page, HasSubstr("No file says what to expect of the model. Expected is what its "
                              "operators compute, each called eagerly on the program as it was "
                              "imported, before it was converted and written"));
  EXPECT_THAT(page, HasSubstr("harness -- --pt2 'my tiny'\\''s.pt2'\n"));
}

TEST(ModelPageTest, AnArchiveThatCanNotBeReadKeepsItsName) {
  ModelResult result = make_failure();
  result.origin = Origin{.archive = "broken.pt2"};
  EXPECT_THAT(render_model_page(result, {}), HasSubstr("\n\nImported from `broken.pt2`.\n\n"));
}

TEST(ModelPageTest, SizesThatDifferAndNewValuesOfBuffersAreShown) {
  ModelResult result = make_result();
  TensorMeta& input = result.graph->graph_inputs[0];
  input.shape[0] = kDynamicSize;
  input.symbolic_shape = {"s0", ""};
  result.graph->graph_outputs[0].mutates = "b_count";
  const std::string page = render_model_page(result, {});
  EXPECT_THAT(page, HasSubstr("| Input | `x` | `s0x2` | `float32` |\n"));
  EXPECT_THAT(page, HasSubstr("| Output | `add`, new value of `b_count` | `1x2` |"));
}

TEST(ModelPageTest, NodesOfGraphsFollowTheirNode) {
  ModelResult result = make_result();
  OpNode inner;
  inner.name = "sub";
  inner.op_type = "aten.sub.Tensor";
  Graph& branch = result.graph->nodes[0].graphs.emplace_back();
  branch.nodes = {inner, inner};
  result.graph->nodes[0].graphs.push_back(branch);
  result.graph->nodes.push_back(inner);
  const std::string page = render_model_page(result, {});
  size_t at = 0;
  for (const char* row : {"| 0 | `add`", "| 0.0.0 | `sub`", "| 0.0.1 | `sub`", "| 0.1.0 | `sub`",
                          "| 0.1.1 | `sub`", "| 1 | `sub`"}) {
    at = page.find(row, at);
    EXPECT_NE(at, std::string::npos) << row;
  }
}

TEST(ModelPageTest, AFailureComesFirst) {
  const std::string page = render_model_page(make_failure(), {});
  EXPECT_THAT(page, StartsWith("# Broken\n\n❌ **FAILED** in the stage **extract**:\n\n"
                               "```\naten::item | needs data\nmore\n```\n\n"
                               "The last lines that it printed:\n\n```\nstderr\n```\n"));
  EXPECT_THAT(page, HasSubstr("| extract | ❌ failed |  |\n| serialize | not run |  |\n"));
  EXPECT_THAT(page, Not(HasSubstr("## Graph")));
  EXPECT_THAT(page, Not(HasSubstr("## Numerical verification")));
}

TEST(ModelPageTest, PortablePagesHoldNothingOfTheMachine) {
  const std::string page = render_model_page(make_result(2.5e-7), {.portable = true});
  EXPECT_THAT(page, HasSubstr("Maximum difference: within tolerance\n"));
  EXPECT_THAT(page, HasSubstr("| `<version>` | `exact` | `cpu` | 1 | 0 |"));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("e-07")), Not(HasSubstr("1.25"))));
  // Zero is the same everywhere.
  EXPECT_THAT(render_model_page(make_result(), {.portable = true}),
              HasSubstr("Maximum difference: 0\n"));
}

TEST(ModelPageTest, SavedTensorsComeWithTheCommandThatReplaysThem) {
  PageContext context;
  context.settings.save_tensors = true;
  context.settings.seed = 7;
  context.settings.tolerance.fixed.atol = 1e-6;
  const std::string page = render_model_page(make_result(), context);
  EXPECT_THAT(page, HasSubstr("tools/bazel run //harness -- --model Tiny --seed 7 --atol 1e-06 "
                              "--save-tensors\n"));
  EXPECT_THAT(page, HasSubstr("the verification alone, typed in the folder of this page:\n"));
  EXPECT_THAT(page, HasSubstr("torch-ir verify ir/Tiny.json --weights "
                              "tensors/Tiny.weights.safetensors \\\n"));
  EXPECT_THAT(page, HasSubstr("--rtol 0.0001 --atol 1e-06\n"));
}

TEST(SummaryTest, ListsModelsFailuresAndCategories) {
  const std::string page =
      render_summary({make_failure(), make_result()}, {.selection = {}, .num_registered = 2}, {});
  EXPECT_THAT(page, StartsWith("# Summary\n\n❌ **1 of 2 models PASSED**\n\n"
                               "This run covers the whole registry of 2 models.\n"));
  EXPECT_THAT(page, HasSubstr("| [Broken](Broken.md) | extract | aten::item \\| needs data |\n"));
  EXPECT_THAT(page, HasSubstr("| [Broken](Broken.md) | ❌\u00a0FAILED | `a` |  |  |  |  |  |\n"
                              "| [Tiny](Tiny.md) | ✅\u00a0PASSED | `a` `b_c` | 1 | 2 | 2 | 1,202 "
                              "| 0 |\n"));
  EXPECT_THAT(page, HasSubstr("| `a` | 2 | 1 |\n| `b_c` | 1 | 1 |\n"));
  EXPECT_THAT(page, HasSubstr("```sh\ntools/bazel run //harness\n```\n"));
}

TEST(SummaryTest, SaysWhatItCovers) {
  const Coverage coverage{.selection = {.models = {"Tiny"}, .categories = {"a"}},
                          .num_registered = 12};
  const std::string page = render_summary({make_result()}, coverage, {});
  EXPECT_THAT(page, HasSubstr("✅ **1 of 1 models PASSED**"));
  EXPECT_THAT(page,
              HasSubstr("This run covers 1 of the 12 models of the registry, those of category "
                        "`a`, asked for by name. Pages of other models may be from other "
                        "runs."));
  EXPECT_THAT(page, HasSubstr("tools/bazel run //harness -- --category a --model Tiny\n"));
  EXPECT_THAT(page, Not(HasSubstr("## Failures")));
}

TEST(SummaryTest, CoversArchives) {
  Coverage coverage{.archives = {{.path = "a/x.pt2", .inputs = "b/y"}, {.path = "/c/models/"}},
                    .registry = false,
                    .num_registered = 12,
                    .num_archives = 3};
  const std::string alone = render_summary({make_result()}, coverage, {});
  EXPECT_THAT(alone, HasSubstr("This run covers 3 archives. Pages of other"));
  EXPECT_THAT(alone,
              HasSubstr("tools/bazel run //harness -- --pt2 x.pt2 --inputs y --pt2 models\n"));
  EXPECT_THAT(alone, HasSubstr("Files and folders are named without"));
  coverage.registry = true;
  coverage.selection.models = {"Tiny"};
  const std::vector<ModelResult> results(4, make_result());
  EXPECT_THAT(render_summary(results, coverage, {}),
              HasSubstr("This run covers 1 of the 12 models of the registry, asked for by name, "
                        "and 3 archives. Pages"));
}

}  // namespace
}  // namespace torch_ir
