#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/report/pages.h"
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

std::string render(const std::vector<Result>& results, const RunContext& context = {},
                   const PictureOf& picture_of = picture) {
  return render_index(
      {.coverage = {.num_registered = results.size()}, .context = context, .results = results},
      picture_of);
}

// The text of the script element with `id`, up to the first closing tag, as a browser reads it.
std::string script(const std::string& page, const std::string& id) {
  const std::string mark = "id=\"" + id + "\">";
  const size_t begin = page.find(mark);
  if (begin == std::string::npos) return "";
  const size_t start = begin + mark.size();
  return page.substr(start, page.find("</script", start) - start);
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

json words_of(const std::string& page, int model = 0) {
  return json::parse(script(page, "words-" + std::to_string(model)));
}

TEST(IndexPageTest, HoldsTheResultsFile) {
  const RunRecord run{.results = {make_result(), make_mismatch()}};
  const std::string page = render_index(run, picture);
  EXPECT_EQ(json::parse(script(page, "results")), json::parse(results_to_json(run)));
  EXPECT_EQ(json::parse(script(page, "words"))["bins"].size(), kHistogramBins);
}

TEST(IndexPageTest, HoldsTextsAboutEachModel) {
  Result result = make_mismatch();
  result.nodes = make_nodes();
  const std::string page = render({result});
  const json words = words_of(page);
  EXPECT_EQ(words["reason"],
            "output 'add' differs; first difference: node 3, add (aten.add.Tensor)");
  EXPECT_EQ(words["note"], "Values were requested one by one.");
  EXPECT_EQ(words["graph"]["inputs"][0]["shape"], "1x2");
  EXPECT_EQ(words["command"], "tools/bazel run //harness -- --model Off\n");
  EXPECT_EQ(script(page, "graph-0"), R"("Off")");
}

TEST(IndexPageTest, AReproducerOfAnExecutorSaysWhereItsProgramRuns) {
  Result result = make_mismatch();
  result.reproducer = Reproducer{.command = "harness --ir ."};
  RunContext context;
  context.settings.executor = "sim {ir}";
  EXPECT_THAT(words_of(render({result}, context))["hint"].get<std::string>(),
              HasSubstr("with --ir DIR/repro/Off --output NEW in place of --ir ., where DIR is"));
}

TEST(IndexPageTest, NoTextIsMarkup) {
  Result result = make_mismatch();
  result.name = result.description = kHostile;
  result.categories = {kHostile};
  result.failure->message = result.failure->output = kHostile;
  result.nodes = make_nodes();
  result.nodes->first_divergence->node.node = kHostile;
  TensorMeta& input = result.graph->nodes[0].inputs[0];
  input.name = "</script><script>alert(1)</script>";
  input.producer_node = result.graph->graph_inputs[0].name = input.name;
  RunContext context;
  context.settings.executor = kHostile;
  const size_t num_scripts = count(render({make_result()}), "<script");
  const RunRecord run{.coverage = {.selection = {.categories = {kHostile}}},
                      .context = context,
                      .results = {result}};
  const std::string page =
      render_index(run, [](const Result&) { return GraphPicture{.data = kHostile}; });
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_EQ(count(page, "<script"), num_scripts);
  const json model = json::parse(script(page, "results"))["models"][0];
  const std::string expected = "</script><script>alert(1)</script><!-- \" ' & \x01 \ufffd";
  EXPECT_EQ(model["name"], expected);
  EXPECT_EQ(model["failure"]["message"], expected);
  EXPECT_EQ(model["node_report"]["first_divergence"]["node"]["node"], expected);
}

TEST(IndexPageTest, NeedsNothingBesideItself) {
  const std::string page = render({make_result(), make_failure(), make_mismatch()});
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("http://")), Not(HasSubstr("https://")),
                          Not(HasSubstr("<link")), Not(HasSubstr(" src="))));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

TEST(IndexPageTest, SaysHowOftenModelsRan) {
  const auto trials = [](const Result& result) {
    const json data = json::parse(script(render({result}), "words"));
    for (const json& row : data["environment"]) {
      if (row[0] == "Trials") return row[1].get<std::string>();
    }
    return std::string();
  };
  Result result = make_result();
  EXPECT_EQ(trials(result), "1");
  // How many were asked for.
  result.failure = Failure();
  EXPECT_EQ(trials(result), "3");
  result.origin = Origin{.archive = "tiny.pt2", .expected = "tiny.expected.safetensors"};
  EXPECT_EQ(trials(result), "1");
}

TEST(IndexPageTest, HoldsWhatHasChanged) {
  const BaselineComparison comparison{
      .num_compared = 1,
      .models = {{.model = "Off",
                  .trend = Trend::kWorse,
                  .changes = {{.what = "nodes", .before = int64_t{1}, .now = int64_t{2}}}}}};
  const std::string page =
      render_index({.context = {.baseline = "old/results.json"}, .results = {make_mismatch()}},
                   picture, &comparison);
  const json data = json::parse(script(page, "words"));
  EXPECT_EQ(data["changes"]["baseline"], "old/results.json");
  EXPECT_EQ(data["changes"]["notes"], json({"1 model compared: 1 worse."}));
  EXPECT_EQ(data["changes"]["rows"][0]["model"], "Off");
  EXPECT_EQ(data["changes"]["rows"][0]["changes"], json({"nodes: 1 -> 2"}));
  EXPECT_TRUE(json::parse(script(render({make_mismatch()}), "words"))["changes"].is_null());
}

TEST(IndexPageTest, NeedsNoGraphThatWasDropped) {
  Result dropped = make_mismatch();
  dropped.drop_graph();
  EXPECT_FALSE(dropped.graph);
  EXPECT_EQ(render({dropped}), render({make_mismatch()}));
}

TEST(IndexPageTest, LargeGraphsAreLeftOut) {
  const std::string large(kMaxIndexGraph + 1, ' ');
  const std::string page = render({make_result(), make_mismatch()}, {}, [&](const Result& result) {
    return GraphPicture{.data = "{" + (result.name == "Off" ? "" : large) + "}"};
  });
  EXPECT_EQ(script(page, "graph-0"), "");
  EXPECT_EQ(script(page, "graph-1"), "{}");
  EXPECT_EQ(words_of(page)["picture_problem"], "it is too large for this page");
}

TEST(IndexPageTest, AMissingPictureHasAReason) {
  const std::string page = render({make_result()}, {}, [](const Result&) {
    return GraphPicture{.problem = "Graphviz's 'dot' is not on the PATH"};
  });
  EXPECT_EQ(words_of(page)["picture_problem"], "Graphviz's 'dot' is not on the PATH");
}

TEST(IndexPageTest, IsTheSameEachTime) {
  const std::vector<Result> results = {make_result(2.5e-7), make_failure(), make_mismatch()};
  EXPECT_EQ(render(results), render(results));
}

// --- For a browser ---

// Six equal layers of two nodes and, in the last but one, a node with another error.
Result make_layers() {
  Result result = make_result(2.5e-7);
  result.name = "Layers";
  IR& ir = *result.graph;
  const OpNode node = ir.nodes[0];
  ir.nodes.clear();
  result.nodes.emplace();
  for (int64_t i = 0; i < 12; ++i) {
    OpNode& copy = ir.nodes.emplace_back(node);
    copy.name = copy.outputs[0].name = "add_" + std::to_string(i);
    copy.module = "layers." + std::to_string(i / 2);
    if (i > 0) copy.inputs[0] = ir.nodes[static_cast<size_t>(i) - 1].outputs[0];
    if (i > 0) copy.inputs[0].producer_node = copy.inputs[0].name;
    result.nodes->errors.push_back({.index = i, .max_diff = i == 9 ? 0.5 : 1e-6});
  }
  ir.graph_outputs = ir.nodes.back().outputs;
  result.nodes->errors.pop_back();
  Divergence& divergence = result.nodes->first_divergence.emplace();
  divergence.node = {.index = 9, .node = "add_9", .op_type = "aten.add.Tensor", .value = "add_9"};
  divergence.node.module = "layers.4";
  divergence.node.comparison.signal_to_noise = 12.5;
  result.executor = ExecutorReport{.num_nodes = 12};
  result.executor->nodes = {
      {"add_8", {.place = "npu", .seconds = 0.001}},
      {"add_9",
       {.place = "host", .seconds = 0.1, .metrics = {{"cycles", int64_t{1200}}, {"tile", "8x8"}}}},
      {"add_11", {.place = "npu", .seconds = 0.01}}};
  return result;
}

std::vector<Result> results_of_every_kind(int num_more) {
  std::vector<Result> all = {make_result(), make_failure(), make_mismatch()};
  all[2].nodes = make_nodes();
  all[2].reproducer = Reproducer{.num_nodes = 1,
                                 .first_node = "add",
                                 .last_node = "add",
                                 .command = "torch-ir verify ir.json --inputs inputs.safetensors",
                                 .message = "12 of 2048 elements differ"};
  Result known = make_mismatch();
  known.name = "Known";
  known.categories = {"known"};
  known.expected_failure =
      ExpectedFailure{.kind = FailureKind::kOutputMismatch, .reason = "rounds twice"};
  all.push_back(known);
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
  for (int i = 0; i < num_more; ++i) {
    Result& result = all.emplace_back(make_result(1e-9 * (1 + i * 7919 % 1000)));
    result.name = "Model" + std::to_string(i);
    result.categories = {"category_" + std::to_string(i % 12)};
    const OpNode node = result.graph->nodes[0];
    for (int k = 1; k < 40; ++k) {
      OpNode& copy = result.graph->nodes.emplace_back(node);
      copy.name = copy.outputs[0].name = "add_" + std::to_string(k);
    }
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
  context.timings = true;
  context.environment = {{"libtorch", "2.13.0"}, {"cpu_capability", "AVX2"}};
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
  const Result call{.name = "aten.abs.default/float32/usual",
                    .categories = {"pointwise"},
                    .call = CallInfo{.op_type = "aten.abs.default", .dtype = "float32"},
                    .num_passed_stages = kStages.size()};
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
                                 .cases = {call}},
                                picture_for_a_browser, &comparison));
}

}  // namespace
}  // namespace torch_ir
