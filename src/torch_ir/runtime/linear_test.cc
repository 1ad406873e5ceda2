// Tests linear layers, which eager decomposes into transposes, expansions and matrix products.

#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "torch_ir/ir/dtype.h"
#include "torch_ir/runtime/interpreter/node_run.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

std::string linear_difference(const at::Tensor& input, const at::Tensor& weight,
                              const at::Tensor& bias) {
  EagerGraph graph;
  const V x = graph.input("x", input);
  const V w = graph.weight("w", weight);
  const V b = graph.weight("b", bias);
  graph.output(graph.call1("aten.linear.default", {x, w, b}));
  return difference_from_eager(graph);
}

TEST(Linear, GivesTheBitsOfTheOperator) {
  const std::vector<std::vector<int64_t>> shapes = {{8},       {1, 8},      {5, 8},    {0, 8},
                                                    {2, 3, 8}, {1, 1, 8},   {2, 0, 8}, {64, 3, 8},
                                                    {300, 8},  {2, 2, 3, 8}};
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    for (const auto& shape : shapes) {
      EXPECT_EQ(linear_difference(at::randn(shape).to(type), at::randn({7, 8}).to(type),
                                  at::randn({7}).to(type)),
                "")
          << dtype_name(type) << " [" << shape_text(shape) << "]";
    }
  }
  // Any strides.
  const at::Tensor weight = at::randn({8, 7}).t();
  const at::Tensor bias = at::randn({14}).slice(0, 0, 14, 2);
  for (const at::Tensor& input :
       {at::randn({8, 5}).t(), at::randn({3, 2, 8}).transpose(0, 1),
        at::randn({8, 3, 2}).permute({2, 1, 0}), at::randn({1, 8}).expand({4, 8}),
        at::randn({2, 3, 16}).slice(2, 0, 16, 2)}) {
    EXPECT_EQ(linear_difference(input, weight, bias), "");
  }
}

// LibTorch folds the batch of such an input into its rows only if the weight is trainable.
TEST(Linear, OfATrainableWeightIsThatOfEager) {
  for (const bool is_trainable : {false, true}) {
    EagerGraph graph;
    const V x = graph.input("x", at::randn({2, 17, 32}).slice(1, 0, 1));
    const V w = graph.weight("w", at::randn({128, 32}).requires_grad_(is_trainable));
    const V b = graph.weight("b", at::randn({128}).requires_grad_(is_trainable));
    const V turned = graph.call1("aten.t.default", {w});
    graph.output(graph.call1("aten.linear.default", {x, w, b}));
    graph.output(graph.call1("aten.matmul.default", {x, turned}));
    graph.output(graph.call1("aten.relu.default", {turned}));
    EXPECT_EQ(difference_from_eager(graph), "") << is_trainable;
    // Weights of a file.
    for (auto& weight : graph.weights) weight.value() = weight.value().detach().clone();
    EXPECT_EQ(difference_from_eager(graph), "") << is_trainable;
    const std::vector<at::Tensor> outputs = run_program(graph.as_case());
    for (size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_TRUE(same_bits(outputs[i], graph.expected()[i])) << is_trainable << " " << i;
      EXPECT_FALSE(outputs[i].requires_grad());
    }
    EXPECT_FALSE(graph.weights["w"].requires_grad());
  }
}

// The transposed weight must be the copy of the run.
TEST(Linear, SeesAWeightThatIsWritten) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 4}));
  const V w = graph.weight("w", at::randn({5, 4}));
  const V b = graph.weight("b", at::randn({5}));
  graph.call("aten.neg_.default", {w});
  graph.output(graph.call1("aten.linear.default", {x, w, b}));
  EXPECT_EQ(difference_from_eager(graph), "");
}

}  // namespace
}  // namespace torch_ir
