#include "torch_ir/executor/graph/graph_slice.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "torch_ir/executor/graph/lower.h"
#include "torch_ir/executor/testing/eager_graph.h"

namespace torch_ir {
namespace {

// A run writes to its own copies, and hands them on.
TEST(GraphSlice, HoldsNothingOfWhatIsWritten) {
  EagerGraph graph;
  const V x = graph.input("x", at::ones({3}));
  const V state = graph.weight("state", at::ones({3}));
  const V weight = graph.weight("weight", at::ones({3}));
  graph.call("aten.add_.Tensor", {state, x});
  graph.output(graph.call1("aten.mul.Tensor", {state, weight}));
  const LoweredGraph lowered = lower(graph.ir, graph.weights, StateDict(), {});
  const GraphSlice slice = GraphSlicer(lowered).slice(0, 2);
  ASSERT_EQ(slice.graph.inputs.size(), 2);
  for (const GraphPort& input : slice.graph.inputs) {
    EXPECT_FALSE(slice.graph.values[input.value].constant.defined());
  }
  EXPECT_TRUE(slice.writes_inputs);
}

}  // namespace
}  // namespace torch_ir
