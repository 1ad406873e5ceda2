// Tests operators that the tables of models/operators lack: a plan gives the bits of eager calls.

#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/interpreter/node_run.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

// Single calls are cases of models/operators; these two have none there.
TEST(Operators, WithoutACase) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 3, 8, 8}));
  graph.output(graph.call1("aten.quantile.scalar", {x, 0.3}));
  for (const V& part : graph.call("aten.tensor_split.indices", {x, Attribute::list({1, 5}), 3})) {
    graph.output(part);
  }
  EXPECT_EQ(difference_from_eager(graph), "");
}

// No node can read such a result, and the graph does not list it.
TEST(Operators, WithResultsThatAreNoTensors) {
  const std::pair<const char*, std::vector<EagerArgument>> calls[] = {
      {"aten.result_type.Tensor", {V{"x"}, V{"y"}}},
      {"aten.is_same_size.default", {V{"x"}, V{"y"}}},
      {"aten.equal.default", {V{"x"}, V{"y"}}},
      // Four tensors and a number.
      {"aten._batch_norm_impl_index.default",
       {V{"x"}, V{"p_w"}, V{"p_w"}, V{"p_w"}, V{"p_w"}, false, 0.1, 1e-5, false}},
  };
  for (const auto& [op_type, arguments] : calls) {
    SCOPED_TRACE(op_type);
    EagerGraph graph;
    const V x = graph.input("x", at::randn({2, 3}));
    const V y = graph.input("y", at::randn({2, 3}));
    graph.weight("w", at::ones({3}));
    for (const V& result : graph.call(op_type, arguments)) graph.output(result);
    const V sum = graph.call1("aten.add.Tensor", {x, y});
    graph.output(sum);
    EXPECT_EQ(difference_from_eager(graph), "");
    for (const bool trace : {true, false}) {
      ExecutionOptions options;
      options.trace = trace;
      const ExecutionPlan plan = compile(graph.ir, graph.weights, StateDict(), options);
      EXPECT_TRUE(same_bits(plan.run_checked(graph.inputs).back(), graph.value(sum)));
    }
    NodeRun run(graph.as_case());
    EXPECT_TRUE(same_bits(run.value(sum.name), graph.value(sum)));
  }
}

}  // namespace
}  // namespace torch_ir
