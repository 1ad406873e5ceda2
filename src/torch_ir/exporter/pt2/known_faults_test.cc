#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/exporter/pt2/read_program.h"
#include "torch_ir/ir/testing/program_graphs.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;

// The shapes that PyTorch 2.6 wrote for nn.LSTM(3, 4, bidirectional=True).
TEST(KnownFaultsTest, FinalStatesOfAnLstmHaveTheShapesOfTheInitialOnes) {
  const c10::ScalarType f32 = c10::ScalarType::Float;
  Graph graph;
  const ValueId x = add_input(graph, "x", {{5, 2, 3}, f32});
  const ValueId h = add_input(graph, "h", {{2, 2, 4}, f32});
  const ValueId c = add_input(graph, "c", {{2, 2, 4}, f32});
  add_node(graph, "lstm", "aten.lstm.input", {{"input", x}, {"hx", ValueList{h, c}}},
           {{5, 2, 8}, f32});
  std::vector<ValueId>& outputs = graph.nodes[0].outputs;
  for (int i = 0; i < 2; ++i) outputs.push_back(graph.add_value({{2, 1, 2, 4}, f32}));
  repair_known_faults(graph);
  EXPECT_THAT(graph[outputs[0]].shape, ElementsAre(5, 2, 8));
  EXPECT_THAT(graph[outputs[1]].shape, ElementsAre(2, 2, 4));
  EXPECT_THAT(graph[outputs[2]].shape, ElementsAre(2, 2, 4));
}

}  // namespace
}  // namespace torch_ir
