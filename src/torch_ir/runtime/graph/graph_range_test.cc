#include "torch_ir/runtime/graph/graph_range.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

// A run writes to its own copies, and hands them on.
TEST(RangeCutter, MakesInputsOfWhatIsWritten) {
  EagerGraph graph;
  const V x = graph.input("x", at::ones({3}));
  const V state = graph.weight("state", at::ones({3}));
  const V weight = graph.weight("weight", at::ones({3}));
  graph.call("aten.add_.Tensor", {state, x});
  graph.output(graph.call1("aten.mul.Tensor", {state, weight}));
  const LoweredGraph lowered = lower(graph.as_case());
  const GraphRange range = RangeCutter(lowered).cut(0, 2);
  ASSERT_EQ(range.inputs.size(), 2);
  EXPECT_FALSE(range.value(range.inputs[1]).constant.defined());
  EXPECT_EQ(range.value(range.inputs[0]).declared->name, "p_state");
  EXPECT_EQ(range.released.size(), 2);
  EXPECT_TRUE(range.writes_inputs());
  EXPECT_FALSE(RangeCutter(lowered).cut(1, 2).inputs.empty());
}

}  // namespace
}  // namespace torch_ir
