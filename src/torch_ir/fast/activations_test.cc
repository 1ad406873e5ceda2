// Our own activation kernels at level `fast`, against LibTorch's.

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linspace.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

struct Activated {
  std::string op;
  std::vector<Attribute> attributes = {};
};

V activate(EagerGraph& graph, const Activated& activated, const V& x) {
  std::vector<EagerArgument> arguments = {x};
  arguments.insert(arguments.end(), activated.attributes.begin(), activated.attributes.end());
  return graph.call1(activated.op, arguments);
}

const Activated kActivated[] = {{"aten.silu.default"},
                                {"aten.gelu.default"},
                                {"aten.gelu.default", {"tanh"}},
                                {"aten.hardswish.default"}};

// Also at values for which the exponential is clipped. The size is not a multiple of a vector's.
TEST(Activations, AreAsPreciseAsEager) {
  if (!onednn_version()) GTEST_SKIP() << "built without oneDNN";
  for (const Activated& activated : kActivated) {
    EagerGraph graph;
    at::Tensor data = at::linspace(-120, 120, 41 * 67).view({41, 67});
    data[5][0] = -1e15;
    const V x = graph.input("x", data);
    const V y = graph.call1("aten.linear.default", {x, graph.weight("w", at::eye(67))});
    graph.output(activate(graph, activated, y));
    const auto calls = calls_at_fast(graph);
    EXPECT_EQ(std::ranges::count(calls, "torch_ir::activation"), 1) << activated.op;
    EXPECT_TRUE(
        at::allclose(fast_plan(graph).run(graph.inputs)[0], graph.expected()[0], 1e-5, 2e-6))
        << activated.op;
  }
}

}  // namespace
}  // namespace torch_ir
