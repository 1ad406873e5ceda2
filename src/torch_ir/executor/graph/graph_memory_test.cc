#include "torch_ir/executor/graph/graph_memory.h"

#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/executor/testing/eager_graph.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(GraphMemory, KnowsWhatSharesMemoryAndWhoWritesToIt) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4, 6}));
  const V bias = graph.weight("bias", at::randn({6}));
  const V sum = graph.call1("aten.add.Tensor", {x, bias});
  const V view = graph.call1("aten.t.default", {sum});
  const V relu = graph.call1("aten.relu_.default", {view});
  graph.output(graph.call1("aten.neg.default", {sum}));

  const GraphMemory memory(graph.ir, graph.weights);
  EXPECT_EQ(memory.of(sum.name), memory.of(view.name));
  EXPECT_EQ(memory.of(sum.name), memory.of(relu.name));
  EXPECT_NE(memory.of(sum.name), memory.of("x"));
  EXPECT_NE(memory.of("x"), memory.of("p_bias"));
  EXPECT_EQ(memory.of("nothing"), std::nullopt);
  EXPECT_THAT(memory.written_by(0), IsEmpty());
  EXPECT_THAT(memory.written_by(2), ElementsAre(memory.of(sum.name).value()));
  EXPECT_TRUE(memory.is_written(memory.of(view.name).value(), 0, 3));
  EXPECT_FALSE(memory.is_written(memory.of(view.name).value(), 3, 4));
  EXPECT_FALSE(memory.is_written(memory.of("x").value(), 0, 4));
}

}  // namespace
}  // namespace torch_ir
