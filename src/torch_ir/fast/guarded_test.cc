// NaN, infinities and the largest numbers at level `fast`, which must be where LibTorch has them.

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "torch_ir/fast/testing/fuse_trace_fixture.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kMax = std::numeric_limits<float>::max();

// Runs both levels with each special value in the middle of the first input, and before and after
// them without; level `exact` has eager's bits.
std::string difference_with_special_values(const EagerGraph& graph) {
  const ExecutionPlan fast = fast_plan(graph);
  const ExecutionPlan exact = compile(graph.ir, graph.weights);
  std::string difference;
  for (const float value : {0.5F, kNan, kInfinity, -kInfinity, kMax, 0.5F}) {
    std::vector<at::Tensor> inputs = graph.inputs;
    inputs[0] = inputs[0].clone();
    inputs[0].view(-1)[inputs[0].numel() / 2 + 3] = value;
    const std::vector<at::Tensor> expected = exact.run(inputs);
    const std::vector<at::Tensor> outputs = fast.run(inputs);
    for (size_t i = 0; i < expected.size(); ++i) {
      if (at::allclose(outputs[i], expected[i], 1e-4, 1e-4, /*equal_nan=*/true)) continue;
      difference += fmt::format(
          "{}: output {} has {} NaN and {} infinities, expected {} and {}\n", value, i,
          outputs[i].isnan().sum().item<int64_t>(), outputs[i].isinf().sum().item<int64_t>(),
          expected[i].isnan().sum().item<int64_t>(), expected[i].isinf().sum().item<int64_t>());
    }
  }
  for (const NodeNotReplayed& node : fast.not_replayed()) {
    difference += node.name + " is no longer replayed\n";
  }
  return difference;
}

using Build = std::function<V(EagerGraph& graph)>;

struct Producer {
  std::string name;
  Build build;
};

Build convolution_of(const ConvolutionCase& shape) {
  return
      [shape](EagerGraph& graph) { return convolution(graph, image(graph, shape), "conv", shape); };
}

Build convolution_with(const std::string& op, const std::vector<int64_t>& sizes,
                       const std::vector<int64_t>& weight_sizes) {
  return [=](EagerGraph& graph) {
    const V weight = graph.weight("w", at::randn(weight_sizes) / 8);
    const Attribute one = Attribute::list({1});
    return aten(graph, op, {graph.input("x", at::randn(sizes)), weight, {}, one, one});
  };
}

std::vector<Producer> producers() {
  const ConvolutionCase large{.kernel = 5};
  return {
      {"1x1", convolution_of({.kernel = 1})},
      {"Winograd", convolution_of({.out = 48})},
      {"5x5", convolution_of(large)},
      {"depthwise", convolution_of({.groups = 16})},
      {"padded channels", convolution_of({.in = 20, .out = 20})},
      {"1d", convolution_with("conv1d", {1, 16, 40}, {16, 16, 3})},
      {"3d", convolution_with("conv3d", {1, 16, 6, 6, 6}, {16, 16, 3, 3, 3})},
      {"transposed",
       [](EagerGraph& graph) {
         return aten(graph, "conv_transpose2d.input",
                     {image(graph), graph.weight("w", at::randn({16, 8, 2, 2}) / 8),
                      graph.weight("b", at::randn({8})), pair(2)});
       }},
      {"norm after convolution",
       [=](EagerGraph& graph) { return batch_norm(graph, convolution_of(large)(graph), "norm"); }},
      {"norm alone",
       [](EagerGraph& graph) {
         const V x = pointwise(graph, image(graph), "conv");
         graph.output(x);
         return batch_norm(graph, x, "norm");
       }},
      {"convolution and addend",
       [](EagerGraph& graph) {
         const V y = graph.input("y", at::randn({1, 16, 12, 12}));
         const V addend = pointwise(graph, y, "a");
         return aten(graph, "add.Tensor", {pointwise(graph, image(graph), "b"), addend});
       }},
      {"sum",
       [](EagerGraph& graph) {
         const V y = pointwise(graph, image(graph), "a");
         return aten(graph, "add.Tensor", {y, graph.input("y", at::randn({1, 16, 12, 12}))});
       }},
      {"product",
       [](EagerGraph& graph) {
         const V x = image(graph);
         const V y = pointwise(graph, x, "a");
         return aten(graph, "mul.Tensor", {y, pointwise(graph, x, "b")});
       }},
      {"linear",
       [](EagerGraph& graph) {
         const V w = graph.weight("w", at::randn({128, 64}) / 8);
         const V b = graph.weight("b", at::randn({128}));
         return aten(graph, "linear", {graph.input("x", at::randn({2, 32, 64})), w, b});
       }},
  };
}

struct NamedActivation {
  std::string op;
  std::vector<EagerArgument> arguments = {};
  bool follows_all = false;
};

const NamedActivation kAll[] = {
    {"", {}, true},
    {"relu", {}, true},
    {"relu6"},
    {"clamp", {-1.0, 1.0}},
    {"clamp_min", {0.0}},
    {"clamp_min", {0.1}},
    {"clamp_max", {0.5}},
    {"hardtanh"},
    {"hardsigmoid", {}, true},
    {"hardswish"},
    {"sigmoid"},
    {"tanh"},
    {"gelu", {}, true},
    {"gelu", {"tanh"}},
    {"silu"},
    {"leaky_relu", {0.1}},
    {"elu"},
    {"max_pool2d", {pair(2)}},
};

// All activations follow the first two producers, and some follow all.
TEST_F(FuseTrace, HasSpecialValuesWhereEagerHasThem) {
  const std::vector<Producer> all = producers();
  for (const Producer& producer : all) {
    for (const NamedActivation& activated : kAll) {
      if (&producer - all.data() > 1 && !activated.follows_all) continue;
      SCOPED_TRACE(producer.name + ", " + activated.op);
      EagerGraph graph;
      const V y = producer.build(graph);
      std::vector<EagerArgument> arguments = {y};
      arguments.insert(arguments.end(), activated.arguments.begin(), activated.arguments.end());
      graph.output(activated.op.empty() ? y : aten(graph, activated.op, arguments));
      EXPECT_EQ(difference_with_special_values(graph), "");
    }
  }
}

// Also where only zeros around the image meet them.
TEST_F(FuseTrace, HasSpecialValuesOfWeights) {
  for (const ConvolutionCase& shape :
       {ConvolutionCase{.out = 48, .kernel = 1}, ConvolutionCase{.out = 48},
        ConvolutionCase{.size = 4, .padding = 12, .dilation = 12}}) {
    for (const float value : {kNan, kInfinity, kMax}) {
      EagerGraph graph;
      const at::Tensor weight = at::randn({shape.out, 16, shape.kernel, shape.kernel}) / 8;
      weight.view(-1)[7] = value;
      const V y = aten(graph, "conv2d",
                       {image(graph, shape),
                        graph.weight("w", weight),
                        {},
                        pair(1),
                        pair(shape.padding),
                        pair(shape.dilation)});
      graph.output(aten(graph, "relu", {y}));
      EXPECT_EQ(difference_at_fast(graph), "") << value << ", " << shape.kernel;
    }
  }
}

// LibTorch's attention makes zeros of a row whose only score is negative infinity.
TEST_F(FuseTrace, HasSpecialValuesInAttention) {
  for (const bool is_causal : {false, true}) {
    EagerGraph graph;
    const V x = graph.input("x", at::randn({1, 2, 16, 16}));
    const V y = graph.input("y", at::randn({1, 2, 16, 16}));
    graph.output(aten(graph, "scaled_dot_product_attention", {x, y, y, {}, 0.0, is_causal}));
    EXPECT_EQ(difference_with_special_values(graph), "");
  }
}

// The second part of a graph that is replayed in parts meets them.
TEST_F(FuseTrace, HasSpecialValuesAfterWhatDependsOnData) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({32, 64}));
  const V chosen = aten(graph, "nonzero", {x});
  const V weight = graph.weight("w", at::randn({64, 64}) / 8);
  const V y = aten(graph, "linear", {x, weight});
  graph.output(aten(graph, "relu", {y}));
  graph.output(chosen);
  const ExecutionPlan fast = fast_plan(graph);
  const ExecutionPlan exact = compile(graph.ir, graph.weights);
  for (const float value : {0.5F, kNan, 0.5F, kNan}) {
    const at::Tensor data = at::randn({32, 64});
    data[3][5] = value;
    const std::vector<at::Tensor> expected = exact.run({data});
    const std::vector<at::Tensor> outputs = fast.run({data});
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(at::allclose(outputs[i], expected[i], 1e-4, 1e-4, /*equal_nan=*/true)) << value;
    }
    EXPECT_EQ(fast.not_replayed().size(), 1U);
  }
  const std::vector<ExactRuns> runs = fast.exact_runs();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].op_type, "aten.relu.default");
  EXPECT_EQ(runs[0].num_runs, 2);
}

TEST_F(FuseTrace, IsExactFromThenOnIfItsFirstRunHasSpecialValues) {
  EagerGraph graph;
  const V y = convolution(graph, image(graph), "conv", {.out = 48});
  graph.output(aten(graph, "relu", {y}));
  const at::Tensor special = graph.inputs[0].clone();
  special.view(-1)[7] = kNan;
  const std::vector<at::Tensor> expected = compile(graph.ir, graph.weights).run(graph.inputs);
  const ExecutionPlan fast = fast_plan(graph);
  EXPECT_FALSE(at::equal(fast.run(graph.inputs)[0], expected[0]));
  const ExecutionPlan exact = fast_plan(graph);
  (void)exact.run({special});
  (void)exact.run({special});
  EXPECT_TRUE(at::equal(exact.run(graph.inputs)[0], expected[0]));
  ASSERT_EQ(exact.exact_runs().size(), 1U);
  EXPECT_EQ(exact.exact_runs()[0].name, "n1");
  EXPECT_EQ(exact.exact_runs()[0].num_runs, 1);
}

}  // namespace
}  // namespace torch_ir
