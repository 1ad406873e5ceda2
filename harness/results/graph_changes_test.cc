#include "harness/results/graph_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "torch_ir/base/file.h"
#include "torch_ir/ir/json.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ModelResult make_result(const std::string& op_type) {
  ModelResult result{.name = "Tiny"};
  IR& graph = result.graph.emplace();
  graph.model_name = "Tiny";
  graph.pytorch_version = "2.13.0";
  graph.graph_inputs.push_back({.name = "x", .shape = {2}, .dtype = "float32"});
  OpNode& node = graph.nodes.emplace_back();
  node.name = "y";
  node.op_type = op_type;
  node.inputs.push_back({.name = "x", .shape = {2}, .dtype = "float32", .producer_node = "x"});
  node.outputs.push_back({.name = "y", .shape = {2}, .dtype = "float32"});
  graph.graph_outputs.push_back({.name = "y", .shape = {2}, .dtype = "float32"});
  return result;
}

class GraphChangesTest : public ::testing::Test {
 protected:
  // A run that has left relu in `folder_`.
  GraphChangesTest() {
    std::filesystem::create_directories(folder_ + "ir");
    IR graph = *make_result("aten.relu.default").graph;
    graph.pytorch_version = "2.12.0";
    save_ir(graph, folder_ + "ir/Tiny.json");
    old_.models.push_back(model_record(make_result("aten.relu.default")));
  }
  ~GraphChangesTest() override { std::filesystem::remove_all(folder_); }

  std::vector<std::string> changes(const ModelResult& result) const {
    return graph_changes(old_, folder_ + "results.json", result);
  }

  const std::string folder_ = ::testing::TempDir() + "graph_changes_test/";
  RunResults old_;
};

TEST_F(GraphChangesTest, NamesWhatHasChanged) {
  EXPECT_THAT(changes(make_result("aten.gelu.default")),
              ElementsAre(HasSubstr("aten.relu.default")));
}

TEST_F(GraphChangesTest, TheSameGraphHasNoWords) {
  EXPECT_THAT(changes(make_result("aten.relu.default")), IsEmpty());
}

TEST_F(GraphChangesTest, ANewNameAloneIsSaidInSummary) {
  ModelResult renamed = make_result("aten.relu.default");
  renamed.graph->nodes[0].name = "z";
  renamed.graph->nodes[0].outputs[0].name = "z";
  renamed.graph->graph_outputs[0].name = "z";
  EXPECT_THAT(changes(renamed), ElementsAre(HasSubstr("no difference")));
}

TEST_F(GraphChangesTest, AFileOfAnotherRunIsNotCompared) {
  save_ir(*make_result("aten.tanh.default").graph, folder_ + "ir/Tiny.json");
  EXPECT_THAT(changes(make_result("aten.gelu.default")),
              ElementsAre("ir/Tiny.json beside the baseline is the graph of another run"));
}

TEST_F(GraphChangesTest, AFileThatCanNotBeReadIsSaid) {
  write_file(folder_ + "ir/Tiny.json", "{");
  EXPECT_THAT(changes(make_result("aten.gelu.default")), ElementsAre(HasSubstr("ir/Tiny.json: ")));
}

TEST_F(GraphChangesTest, WithoutAFileOrAGraphThereAreNoWords) {
  std::filesystem::remove(folder_ + "ir/Tiny.json");
  EXPECT_THAT(changes(make_result("aten.gelu.default")), IsEmpty());
  EXPECT_THAT(changes(ModelResult{.name = "Tiny"}), IsEmpty());
  EXPECT_THAT(changes(ModelResult{.name = "Other"}), IsEmpty());
}

}  // namespace
}  // namespace torch_ir
