// Plans replay all nodes of the archives in the repository, except those named here.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "torch_ir/converter/converter.h"
#include "torch_ir/exporter/pt2/pt2.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

using Lines = std::vector<std::string>;

const std::string kControlFlow = ": control flow; its graphs are replayed separately";
const std::string kOpHandler = ": it has a registered op handler";
const std::string kData = ": its result depends on data";

// By archive.
std::map<std::string, Lines> nodes_not_replayed() {
  return {
      {"cond_nested", {"cond" + kControlFlow, "cond > cond" + kControlFlow}},
      {"data_nonzero", {"nonzero" + kData}},
      {"mixtral",
       {"grouped_mm_fallback" + kOpHandler, "grouped_mm_fallback_1" + kOpHandler,
        "grouped_mm_fallback_2" + kOpHandler, "grouped_mm_fallback_3" + kOpHandler}},
      {"prims_views_operators",
       {"conj: it has a tensor that is not plain memory (sparse, quantized, conjugated)",
        "clone: it reads a tensor that is not dense"}},
      {"rare_unbacked_comparisons", {"item" + kData, "item_1" + kData}},
      {"rare_wrong_meta", {"arange_1: it resizes a tensor", "cumprod_backward" + kData}},
      {"while_loop_closes_over_weights", {"while_loop" + kControlFlow}},
  };
}

Lines lines_of(const ExecutionPlan& plan) {
  Lines lines;
  for (const NodeNotReplayed& node : plan.not_replayed()) {
    lines.push_back(node.name + ": " + node.reason);
  }
  return lines;
}

class ArchivesReplayTest : public ::testing::TestWithParam<Optimization> {};

TEST_P(ArchivesReplayTest, ReplaysAllButWhatItCanNot) {
  std::set<std::string> archives;
  for (const char* folder : {"harness/testdata", "harness/testdata/exports"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".pt2") archives.insert(entry.path().string());
    }
  }
  EXPECT_GE(archives.size(), 40u);
  size_t num_nodes = 0;
  size_t num_others = 0;
  std::map<std::string, Lines> expected = nodes_not_replayed();
  for (const std::string& archive : archives) {
    SCOPED_TRACE(archive);
    const Pt2Model model = read_pt2(archive);
    const IR ir = convert_exported_program(model.program);
    const fs::path inputs = fs::path(archive).replace_extension(".inputs.safetensors");
    ExecutionOptions options;
    options.optimization = GetParam();
    const ExecutionPlan plan = compile(ir, model.weights, StateDict(), options);
    (void)plan.run(fs::exists(inputs) ? read_inputs(inputs.string(), ir)
                                      : model.examples.for_graph(model.program));
    const Lines lines = lines_of(plan);
    EXPECT_EQ(lines, expected[fs::path(archive).stem().string()]);
    num_nodes += ir.nodes.size();
    num_others += lines.size();
  }
  EXPECT_LT(100 * num_others, num_nodes);
}

INSTANTIATE_TEST_SUITE_P(Levels, ArchivesReplayTest,
                         ::testing::Values(Optimization::kExact, Optimization::kFast),
                         [](const auto& level) { return optimization_name(level.param); });

}  // namespace
}  // namespace torch_ir
