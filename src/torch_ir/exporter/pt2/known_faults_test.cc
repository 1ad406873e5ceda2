#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/exporter/pt2/read_program.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;

// What PyTorch 2.6 wrote for nn.LSTM(3, 4, bidirectional=True).
TEST(KnownFaultsTest, FinalStatesOfAnLstmHaveTheShapesOfTheInitialOnes) {
  const c10::ScalarType f32 = c10::ScalarType::Float;
  ExportedGraph graph;
  graph.values = {{"x", {{5, 2, 3}, f32}},      {"h", {{2, 2, 4}, f32}},
                  {"c", {{2, 2, 4}, f32}},      {"out", {{5, 2, 8}, f32}},
                  {"h_n", {{2, 1, 2, 4}, f32}}, {"c_n", {{2, 1, 2, 4}, f32}}};
  graph.nodes = {{"lstm",
                  "aten.lstm.input",
                  {{"input", ValueRef{"x"}}, {"hx", ValueList{ValueRef{"h"}, ValueRef{"c"}}}},
                  {"out", "h_n", "c_n"}}};
  repair_known_faults(graph);
  EXPECT_THAT(graph.values.at("out").shape, ElementsAre(5, 2, 8));
  EXPECT_THAT(graph.values.at("h_n").shape, ElementsAre(2, 2, 4));
  EXPECT_THAT(graph.values.at("c_n").shape, ElementsAre(2, 2, 4));
}

}  // namespace
}  // namespace torch_ir
