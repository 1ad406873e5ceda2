// What the level `fast` calls instead where there is no oneDNN but LibTorch's, and that it computes
// the same within 1e-4.

#include "torch_ir/executor/graph/fusion.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/executor/testing/eager_graph.h"

namespace torch_ir {
namespace {

using Calls = std::vector<std::string>;

ExecutionPlan compile_fast(const EagerGraph& graph) {
  ExecutionOptions options;
  options.optimization = Optimization::kFast;
  options.onednn = false;
  return compile(graph.ir, graph.weights, StateDict(), options);
}

Calls fast_calls(const EagerGraph& graph) {
  Calls calls;
  for (const NodeProfile& node : compile_fast(graph).profile(graph.inputs, 1)) {
    calls.insert(calls.end(), node.calls.begin(), node.calls.end());
  }
  return calls;
}

bool is_close(const EagerGraph& graph) {
  const std::vector<at::Tensor> outputs = compile_fast(graph).run_checked(graph.inputs);
  const std::vector<at::Tensor> expected = graph.expected();
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!at::allclose(outputs[i], expected[i], 1e-4, 1e-4)) return false;
  }
  return true;
}

// A convolution of 16 to 16 channels, large enough to be packed.
V convolution(EagerGraph& graph, const V& x, const std::string& name) {
  const V w = graph.weight(name + ".weight", at::randn({16, 16, 3, 3}) / 12);
  const V b = graph.weight(name + ".bias", at::randn({16}));
  return graph.call1("aten.conv2d.default",
                     {x, w, b, Attribute::list({1, 1}), Attribute::list({1, 1})});
}

V batch_norm(EagerGraph& graph, const V& x, const std::string& name) {
  return graph.call1("aten.batch_norm.default",
                     {x, graph.weight(name + ".weight", at::randn({16})),
                      graph.weight(name + ".bias", at::randn({16})),
                      graph.weight(name + ".running_mean", at::randn({16})),
                      graph.weight(name + ".running_var", at::rand({16}) + 0.5), Attribute(false),
                      Attribute(0.1), Attribute(0.25), Attribute(false)});
}

V image(EagerGraph& graph) { return graph.input("x", at::randn({1, 16, 24, 24})); }

TEST(Fusion, MakesOneCallOfConvolutionNormAndActivation) {
  EagerGraph graph;
  const V y = batch_norm(graph, convolution(graph, image(graph), "conv"), "bn");
  graph.output(graph.call1("aten.relu.default", {y}));
  EXPECT_EQ(fast_calls(graph), Calls{"mkldnn::_convolution_pointwise"});
  EXPECT_TRUE(is_close(graph));
}

TEST(Fusion, AddsInTheConvolution) {
  for (const bool is_left : {true, false}) {
    EagerGraph graph;
    const V x = image(graph);
    const V y = batch_norm(graph, convolution(graph, x, "conv"), "bn");
    const V sum =
        is_left ? graph.call1("aten.add.Tensor", {y, x}) : graph.call1("aten.add.Tensor", {x, y});
    graph.output(graph.call1("aten.relu.default", {sum}));
    EXPECT_EQ(fast_calls(graph), Calls{"mkldnn::_convolution_pointwise"});
    EXPECT_TRUE(is_close(graph));
  }
}

TEST(Fusion, KnowsTheActivationsOfOneDnn) {
  for (const char* activation : {"relu", "sigmoid", "tanh", "silu", "hardswish"}) {
    EagerGraph graph;
    const V y = convolution(graph, image(graph), "conv");
    graph.output(graph.call1(fmt::format("aten.{}.default", activation), {y}));
    EXPECT_EQ(fast_calls(graph), Calls{"mkldnn::_convolution_pointwise"}) << activation;
    EXPECT_TRUE(is_close(graph)) << activation;
  }
}

// What is read twice, scaled, or has another shape is not taken in.
TEST(Fusion, LeavesWhatOthersRead) {
  EagerGraph graph;
  const V y = convolution(graph, image(graph), "conv");
  graph.output(graph.call1("aten.relu.default", {y}));
  graph.output(y);
  EXPECT_EQ(fast_calls(graph), (Calls{"mkldnn::_convolution_pointwise", "aten::clamp_min"}));
  EXPECT_TRUE(is_close(graph));
}

TEST(Fusion, LeavesNormsOfWhatOthersRead) {
  EagerGraph graph;
  const V y = convolution(graph, image(graph), "conv");
  graph.output(batch_norm(graph, y, "bn"));
  graph.output(graph.call1("aten.tanh.default", {y}));
  EXPECT_TRUE(is_close(graph));
}

TEST(Fusion, LeavesAdditionsOfOtherKinds) {
  EagerGraph graph;
  const V x = image(graph);
  const V scaled = graph.call1("aten.add.Tensor", {convolution(graph, x, "a"), x, Attribute(2)});
  const V row = graph.input("row", at::randn({24}));
  graph.output(graph.call1("aten.add.Tensor", {convolution(graph, scaled, "b"), row}));
  const Calls calls = fast_calls(graph);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "aten::add"), 2);
  EXPECT_TRUE(is_close(graph));
}

TEST(Fusion, LeavesSmallConvolutionsAndOtherDtypes) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({1, 3, 8, 8}).to(at::kDouble));
  const V w = graph.weight("w", at::randn({4, 3, 3, 3}).to(at::kDouble));
  graph.output(graph.call1("aten.conv2d.default", {x, w}));
  const Calls calls = fast_calls(graph);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "mkldnn::_convolution_pointwise"), 0);
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(Fusion, FoldsNormsIntoConvolutionsWithoutBias) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 16, 10}));
  const V w = graph.weight("w", at::randn({16, 16, 3}) / 7);
  graph.output(batch_norm(graph, graph.call1("aten.conv1d.default", {x, w}), "bn"));
  const Calls calls = fast_calls(graph);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "aten::native_batch_norm"), 0);
  EXPECT_TRUE(is_close(graph));
}

// What is channels-last can not be viewed as any shape.
TEST(Fusion, ReshapesWhatItLaysOutInAnotherWay) {
  EagerGraph graph;
  const V y = convolution(graph, image(graph), "conv");
  graph.output(graph.call1("aten.view.default", {y, Attribute::list({16, 576})}));
  EXPECT_TRUE(is_close(graph));
}

TEST(Fusion, TransposesWeightsOfTallLinears) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 32, 40}));
  const V w = graph.weight("w", at::randn({24, 40}));
  graph.output(graph.call1("aten.linear.default", {x, w, graph.weight("b", at::randn({24}))}));
  EXPECT_EQ(fast_calls(graph), Calls{"aten::addmm"});
  EXPECT_TRUE(is_close(graph));
}

TEST(Fusion, LeavesGraphsThatWriteInPlace) {
  EagerGraph graph;
  const V y = batch_norm(graph, convolution(graph, image(graph), "conv"), "bn");
  graph.call("aten.relu_.default", {y});
  graph.output(y);
  const Calls calls = fast_calls(graph);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "mkldnn::_convolution_pointwise"), 0);
  EXPECT_EQ(difference_from_eager(graph), "");
}

}  // namespace
}  // namespace torch_ir
