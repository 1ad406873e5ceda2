#include "harness/results/model_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "torch_ir/base/work_directory.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

ModelResult drawn(const std::string& name) {
  ModelResult result{
      .name = name, .description = "not UTF-8: \xff", .picture_problem = "too large"};
  result.num_passed_stages = 2;
  result.failure = Failure{.kind = FailureKind::kCrashed, .stage = Stage::kExecute};
  IR& graph = result.graph.emplace();
  graph.graph_inputs = {
      {.name = "x", .shape = {2, -1}, .dtype = "float32", .symbolic_shape = {"", "s0"}}};
  graph.graph_outputs = {{.name = "n", .shape = {}, .dtype = "int64", .is_scalar = true}};
  OpNode& node = graph.nodes.emplace_back();
  node.name = "n";
  node.op_type = "aten.sym_size.int";
  node.outputs = graph.graph_outputs;
  return result;
}

TEST(ModelResultsTest, KeepWhatReportsSayOfAResultAndNotItsGraph) {
  const ModelResult result = drawn("A");
  const ModelResult kept = ModelResults{result}[0];
  EXPECT_EQ(kept.description, result.description);
  EXPECT_EQ(kept.picture_problem, "too large");
  EXPECT_EQ(kept.num_passed_stages, 2u);
  EXPECT_FALSE(kept.graph);
  const IRSummary figures = kept.graph_summary()->figures;
  EXPECT_EQ(shape_text(figures.inputs.at(0)), shape_text(result.graph->graph_inputs[0]));
  EXPECT_EQ(shape_text(figures.outputs.at(0)), "int");
  EXPECT_THAT(figures.op_distribution, ElementsAre(Pair("aten.sym_size.int", 1)));
}

TEST(ModelResultsTest, AreInOrderAndInAFileThatOutlivesItsFolder) {
  ModelResults results;
  {
    const WorkDirectory folder(::testing::TempDir());
    results = ModelResults(folder.path().string());
    results.add(drawn("C"), 2);
    results.add(drawn("A"), 0);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
  results.add(drawn("B"), 1);
  EXPECT_THAT(results.names(), ElementsAre("A", "B", "C"));
  EXPECT_EQ(results.count(Status::kFailed), 3);
  std::string names;
  for (const ModelResult& result : results) names += result.name;
  EXPECT_EQ(names, "ABC");
}

}  // namespace
}  // namespace torch_ir
