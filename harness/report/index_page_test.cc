#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/report/testing/page_test_results.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHostile = "</script><script>alert(1)</script><!-- \" ' & \x01 \xFF";

GraphPicture picture(const Result& result) { return {.data = json(result.name).dump()}; }

std::string render_index(const RunRecord& run, const PictureOf& picture_of,
                         const BaselineComparison* baseline = nullptr) {
  std::string text;
  write_index(run, baseline, picture_of, [&](std::string_view piece) { text += piece; });
  return text;
}

// The data of the page, by part.
std::map<std::string, json> data_of(const RunRecord& run, const PictureOf& picture_of = picture,
                                    const BaselineComparison* baseline = nullptr) {
  std::map<std::string, json> data;
  put_index_data(run, baseline, picture_of, [&](const std::string& id, const std::string& text) {
    data[id] = json::parse(text);
  });
  return data;
}

TEST(IndexPageTest, HoldsTheResultsFileAndNeedsNoGraphThatWasDropped) {
  Result result = make_mismatch();
  result.nodes = make_nodes();
  RunRecord run{.results = {make_result(), result}};
  std::map<std::string, json> data = data_of(run);
  const json expected = json::parse(results_to_json(run))["models"];
  for (size_t i = 0; i < run.results.size(); ++i) {
    json model = data["models"][i];
    model.update(data["model-" + std::to_string(i)]);
    EXPECT_EQ(model["nodes"], expected[i]["graph"]["nodes"]);
    model["graph"] = expected[i]["graph"];
    for (const auto& [key, value] : expected[i].items()) EXPECT_EQ(model[key], value) << key;
    run.results[i].drop_graph();
  }
  EXPECT_EQ(data["run"]["bins"].size(), kHistogramBins);
  EXPECT_TRUE(data["run"]["changes"].is_null());
  EXPECT_EQ(data_of(run), data_of({.results = {make_result(), result}}));
}

TEST(IndexPageTest, HoldsTextsAboutEachModel) {
  Result result = make_mismatch();
  result.nodes = make_nodes();
  result.reproducer = Reproducer{.command = "harness --ir ."};
  std::map<std::string, json> data =
      data_of({.context = {.settings = {.executor = "sim {ir}"}}, .results = {result}});
  EXPECT_EQ(data["models"][0]["reason"], "node 3, add: 12 of 2,048 elements wrong, by at most 0.5");
  EXPECT_EQ(data["models"][0]["cause"], "add, 12 of 2,048 elements wrong, by at most 0.5");
  EXPECT_EQ(data["models"][0]["has_graph"], true);
  const json& model = data["model-0"];
  EXPECT_EQ(
      model["paragraphs"],
      json::parse(R"(["The first difference is at node 3, add (aten.add.Tensor): 12 of 2,048 )"
                  R"(elements wrong, by at most 0.5. Max abs. error 0.5, 12 of 2,048 (0.586 %) )"
                  R"(elements outside the tolerance; at [0, 1] it gives 1.5, expected 1.25.", )"
                  R"("Values were requested one by one."])"));
  EXPECT_EQ(model["command"], "tools/bazel run //harness -- --model Off\n");
  EXPECT_THAT(model["hint"], HasSubstr("with --ir DIR/repro/Off --output NEW in place of --ir ."));
  EXPECT_EQ(model["graph"], "Off");
}

TEST(IndexPageTest, NeedsNothingBesideItself) {
  const std::string page =
      render_index({.results = {make_result(), make_failure(), make_mismatch()}}, picture);
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("<script type=\"text/plain\" id=\"data-model-2\">"));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("http://")), Not(HasSubstr("https://")),
                          Not(HasSubstr("<link")), Not(HasSubstr(" src="))));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

TEST(IndexPageTest, HoldsWhatHasChanged) {
  const BaselineComparison comparison{
      .num_compared = 1,
      .models = {{.model = "Off",
                  .trend = Trend::kWorse,
                  .changes = {{.what = "nodes", .before = int64_t{1}, .now = int64_t{2}}}}}};
  const RunRecord run{.context = {.baseline = "old/results.json"}, .results = {make_mismatch()}};
  EXPECT_EQ(data_of(run, picture, &comparison)["run"]["changes"], json::parse(R"({
    "baseline": "old/results.json",
    "notes": ["1 model compared: 1 worse."],
    "rows": [["Off", "worse", ["nodes: 1 -> 2"]]]})"));
}

TEST(IndexPageTest, GraphsThatDoNotFitAreLeftOut) {
  const auto picture_of = [](const Result& result) {
    return GraphPicture{.data =
                            result.name == "Off" ? "{}" : std::string(kMaxIndexGraphs + 1, ' ')};
  };
  std::map<std::string, json> data =
      data_of({.results = {make_result(), make_mismatch()}}, picture_of);
  EXPECT_FALSE(data["model-0"].contains("graph"));
  EXPECT_EQ(data["model-0"]["picture_problem"], "it is too large for this page");
  EXPECT_EQ(data["models"][0]["has_graph"], false);
  EXPECT_EQ(data["model-1"]["graph"], json::object());
}

// --- For a browser ---

// Six equal layers of two nodes and, in the last but one, a node with another error.
Result make_layers() {
  Result result = make_result(2.5e-7);
  result.name = "Layers";
  IR& ir = *result.graph;
  ir.nodes[0].name = ir.nodes[0].outputs[0].name = "add_0";
  repeat_node(ir, 12);
  result.nodes.emplace();
  for (size_t i = 0; i < ir.nodes.size(); ++i) {
    OpNode& node = ir.nodes[i];
    node.module = "layers." + std::to_string(i / 2);
    if (i > 0) node.inputs[0] = made_by(ir.nodes[i - 1].outputs[0], ir.nodes[i - 1].name);
    result.nodes->errors.push_back(
        {.index = static_cast<int64_t>(i), .max_diff = i == 9 ? 0.5 : 1e-6});
  }
  ir.graph_outputs = ir.nodes.back().outputs;
  result.nodes->errors.pop_back();
  Divergence& divergence = result.nodes->first_divergence.emplace();
  divergence.node = {.index = 9, .node = "add_9", .op_type = "aten.add.Tensor", .value = "add_9"};
  divergence.node.module = "layers.4";
  divergence.node.comparison.signal_to_noise = 12.5;
  result.executor = ExecutorReport{.num_nodes = 12};
  result.executor->nodes = {
      {"add_8", {.place = "npu"}},
      {"add_9", {.place = "host", .metrics = {{"cycles", int64_t{1200}}, {"tile", "8x8"}}}},
      {"add_11", {.place = "npu"}}};
  return result;
}

std::vector<Result> results_of_every_kind(int num_more) {
  std::vector<Result> all = {make_result(), make_failure(), make_mismatch()};
  all[2].nodes = make_nodes();
  all[2].reproducer = Reproducer{.num_nodes = 1,
                                 .first_node = "add",
                                 .last_node = "add",
                                 .command = "harness --ir .",
                                 .message = "12 of 2048 elements differ"};
  Result& known = all.emplace_back(make_known("rounds twice"));
  known.categories = {"known"};
  Result healed = make_result(2.5e-7);
  healed.name = "Healed";
  healed.expected_failure = known.expected_failure;
  all.push_back(healed);
  Result hostile = make_failure();
  hostile.name = "Hostile";
  hostile.description = kHostile;
  hostile.categories = {kHostile};
  hostile.failure->message = kHostile;
  hostile.failure->output = kHostile;
  all.push_back(hostile);
  all.push_back(make_layers());
  // The same graph with another node at the end, another attribute and no wrong node.
  Result slow = make_layers();
  slow.name = "Slow";
  slow.nodes->errors[9].max_diff = 1e-6;
  slow.nodes->first_divergence.reset();
  OpNode& last = slow.graph->nodes.emplace_back(slow.graph->nodes.back());
  last.name = last.outputs[0].name = "add_12";
  last.module = "tail";
  slow.graph->graph_outputs = last.outputs;
  slow.graph->nodes[0].attrs.set("alpha", Attribute(3));
  all.push_back(slow);
  if (num_more > 0) all.emplace_back(all[2]).name = "Off again";
  for (int i = 0; i < num_more; ++i) {
    Result& result = all.emplace_back(make_result(1e-9 * (1 + i * 7919 % 1000)));
    result.name = "Model" + std::to_string(i);
    result.categories = {"category_" + std::to_string(i % 12)};
    repeat_node(*result.graph, 40);
  }
  return all;
}

// Not a test by itself: it writes the page INDEX_PAGE, which index_test.mjs opens in a browser.
// With INDEX_MODELS, the page has that many more models, to time a large page.
TEST(IndexPageTest, IsWrittenForABrowser) {
  const char* path = std::getenv("INDEX_PAGE");
  if (path == nullptr) GTEST_SKIP() << "no INDEX_PAGE";
  const char* num_more = std::getenv("INDEX_MODELS");
  const std::vector<Result> all =
      results_of_every_kind(num_more == nullptr ? 0 : std::atoi(num_more));
  RunContext context;
  context.environment = {{"LibTorch", "2.13.0"}, {"CPU instructions", "AVX2"}};
  context.baseline = "old/results.json";
  const auto passed = std::string("passed");
  const BaselineComparison comparison{
      .notes = {"seed: 0 -> 7"},
      .num_compared = 7,
      .models = {{.model = "Off",
                  .trend = Trend::kWorse,
                  .changes = {{.what = "status", .before = passed, .now = std::string("failed")},
                              {.what = kHostile}}},
                 {.model = "Gone",
                  .trend = Trend::kGone,
                  .changes = {{.what = "status", .before = passed}}}}};
  // The graphs of the further models are equal.
  GraphPicture equal;
  const auto picture_for_a_browser = [&](const Result& result) {
    if (!result.name.starts_with("Model")) return draw_graph(result);
    if (equal.data.empty()) equal = draw_graph(result);
    return equal;
  };
  write_file(path, render_index({.coverage = {.num_registered = all.size()},
                                 .context = context,
                                 .results = all,
                                 .cases = {make_case("aten.abs.default", "float32")}},
                                picture_for_a_browser, &comparison));
}

}  // namespace
}  // namespace torch_ir
