// Writes an index for index_test.mjs: results of every kind, with names and messages that want to
// be markup.
//
//   write_test_index OUT.html [COUNT]
//
// COUNT more models pass, for the time that a large page takes.

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "harness/report/index_page.h"
#include "harness/report/testing/page_test_results.h"
#include "torch_ir/base/file.h"

namespace {

using namespace torch_ir;

constexpr const char* kHostile = "</script><script>alert(1)</script><!-- \" ' & \x01 \xFF";

// A chain of nodes as wide as high.
GraphPicture picture(const ModelResult& result) {
  std::string svg =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg role=\"img\" width=\"400pt\" "
      "height=\"700pt\" viewBox=\"0 0 400 700\" xmlns=\"http://www.w3.org/2000/svg\">\n"
      "<title>A graph</title><g class=\"graph\" transform=\"translate(4 4)\">\n";
  int y = 20;
  for (int64_t i = 0; i < result.graph_summary()->figures.num_nodes; ++i) {
    const std::string name = i == 0 ? "add" : "add_" + std::to_string(i);
    svg += "<g class=\"node\"><title>" + name +
           "</title><polygon fill=\"white\" "
           "stroke=\"black\" points=\"150," +
           std::to_string(y) + " 250," + std::to_string(y) + " 250," + std::to_string(y + 40) +
           " 150," + std::to_string(y + 40) + "\"/><text x=\"200\" y=\"" + std::to_string(y + 25) +
           "\" text-anchor=\"middle\">" + name + "</text></g>\n";
    y += 80;
  }
  return {.svg = svg + "</g></svg>\n"};
}

std::vector<ModelResult> results(int num_more) {
  std::vector<ModelResult> all = {make_result(), make_failure(), make_mismatch()};
  all[2].nodes = make_nodes();
  all[2].reproducer = Reproducer{.num_nodes = 1,
                                 .first_node = "add",
                                 .last_node = "add",
                                 .command = "torch-ir verify ir.json --inputs inputs.safetensors",
                                 .message = "12 of 2048 element(s) differ"};
  ModelResult known = make_mismatch();
  known.name = "Known";
  known.categories = {"known"};
  known.expected_failure =
      ExpectedFailure{.kind = FailureKind::kOutputMismatch, .reason = "rounds twice"};
  all.push_back(known);
  ModelResult healed = make_result(2.5e-7);
  healed.name = "Healed";
  healed.expected_failure = known.expected_failure;
  all.push_back(healed);
  ModelResult hostile = make_failure();
  hostile.name = "Hostile";
  hostile.description = kHostile;
  hostile.categories = {kHostile};
  hostile.failure->message = kHostile;
  hostile.failure->output = kHostile;
  all.push_back(hostile);
  for (int i = 0; i < num_more; ++i) {
    ModelResult& result = all.emplace_back(make_result(1e-9 * (1 + i * 7919 % 1000)));
    result.name = "Model" + std::to_string(i);
    result.categories = {"category_" + std::to_string(i % 12)};
    const OpNode node = result.graph->nodes[0];
    for (int k = 1; k < 40; ++k) {
      result.graph->nodes.push_back(node);
      result.graph->nodes.back().name = "add_" + std::to_string(k);
    }
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "write_test_index OUT.html [COUNT]\n";
    return 2;
  }
  const std::vector<ModelResult> all = results(argc > 2 ? std::atoi(argv[2]) : 0);
  RunContext context;
  context.timings = true;
  context.environment = {{"libtorch", "2.13.0"}, {"cpu_capability", "AVX2"}};
  const ChangesSection changes{
      .baseline = "old/results.json",
      .notes = {"7 models compared: 1 worse, 1 gone", "seed: 0 -> 7"},
      .rows = {
          {.model = "Off", .trend = "worse", .changes = {"status: passed -> failed", kHostile}},
          {.model = "Gone", .trend = "gone", .changes = {"status: was passed"}}}};
  write_file(argv[1], render_index(all, {.num_registered = all.size()}, context, picture, changes));
  return 0;
}
