#include "torch_ir/executor/interpreter/argument_shapes.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/executor/testing/eager_graph.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Sizes = std::vector<int64_t>;

std::string problem_of(const char* name, const char* overload, const torch::jit::Stack& stack) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
  try {
    check_argument_shapes(op, stack);
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

// Two layers in both directions; 3 sequences of 5 steps, 4 numbers each; 6 hidden ones, of which 2
// are given out.
struct Lstm {
  Sizes input = {5, 3, 4};
  std::vector<Sizes> states = {{4, 3, 2}, {4, 3, 6}};
  std::vector<Sizes> parameters;
  bool has_biases = true;
  int64_t num_layers = 2;

  Lstm() {
    for (const int64_t width : {4, 4, 4, 4}) {
      parameters.insert(parameters.end(), {{24, width}, {24, 2}, {24}, {24}, {2, 6}});
    }
  }

  std::string problem() const {
    std::vector<at::Tensor> hx;
    for (const Sizes& sizes : states) hx.push_back(at::zeros(sizes));
    std::vector<at::Tensor> params;
    for (const Sizes& sizes : parameters) params.push_back(at::zeros(sizes));
    return problem_of("aten::lstm", "input",
                      {at::zeros(input), hx, params, has_biases, num_layers, 0.0, false,
                       /*bidirectional=*/true, /*batch_first=*/false});
  }
};

TEST(ArgumentShapes, OfAnLstmThatFits) {
  EXPECT_EQ(Lstm().problem(), "");
  EXPECT_EQ(problem_of("aten::relu", "", {at::zeros({2})}), "");
}

TEST(ArgumentShapes, OfAnLstmThatDoesNot) {
  Lstm lstm;
  lstm.parameters[6] = {24, 3};
  EXPECT_EQ(lstm.problem(), "params 6 has shape [24, 3], but should have [24, 2]");
  lstm = Lstm();
  lstm.parameters[12] = {1};
  EXPECT_EQ(lstm.problem(), "params 12 has shape [1], but should have [24]");
  lstm = Lstm();
  lstm.parameters.pop_back();
  EXPECT_EQ(lstm.problem(), "there are 19 params, not 10 for each of 2 layer(s)");
  lstm = Lstm();
  lstm.num_layers = 3;
  EXPECT_EQ(lstm.problem(), "there are 20 params, not 10 for each of 3 layer(s)");
  lstm = Lstm();
  lstm.states[1] = {4, 1, 6};
  EXPECT_EQ(lstm.problem(), "hx 1 has shape [4, 1, 6], but should have [4, 3, 6]");
  lstm = Lstm();
  lstm.states.pop_back();
  EXPECT_EQ(lstm.problem(), "hx should be two tensors of 3 dimensions");
  lstm = Lstm();
  lstm.input = {5, 4};
  EXPECT_EQ(lstm.problem(), "the input has 2 dimensions, but should have 3");
}

TEST(ArgumentShapes, OfALayerOfOneDnn) {
  const auto problem = [](const Sizes& weight1, const Sizes& cx, int64_t mode) {
    return problem_of(
        "aten::mkldnn_rnn_layer", "",
        {at::zeros({5, 3, 4}), at::zeros({8, 4}), at::zeros(weight1), at::zeros({8}),
         at::zeros({8}), at::zeros({3, 2}), at::zeros(cx), false, std::vector<int64_t>(), mode,
         /*hidden_size=*/2, 1, true, false, false, false});
  };
  EXPECT_EQ(problem({8, 2}, {3, 2}, 2), "");
  EXPECT_EQ(problem({8, 1}, {3, 2}, 2), "weight 1 has shape [8, 1], but should have [8, 2]");
  EXPECT_EQ(problem({8, 2}, {3}, 2), "cx_ should have 6 elements");
  EXPECT_EQ(problem({8, 2}, {3, 2}, 7), "there is no mode 7");
}

TEST(ArgumentShapes, OfNormsAreOneForEachChannel) {
  const auto problem = [](const Sizes& input, int64_t channels) {
    const at::Tensor one = at::ones({channels});
    return problem_of("aten::_native_batch_norm_legit", "",
                      {at::zeros(input), one, one, one, c10::IValue(), true, 0.1, 1e-5});
  };
  EXPECT_EQ(problem({2, 4, 8}, 4), "");
  EXPECT_EQ(problem({2, 4, 8}, 1), "argument 1 has shape [1], but should have [4]");
  EXPECT_EQ(problem({2}, 2), "the input has 1 dimension(s), but should have 2");
}

TEST(ArgumentShapes, OfAViewStayInItsMemory) {
  const auto problem = [](Sizes sizes, Sizes strides) {
    const at::Tensor part = at::zeros({16}).narrow(0, 4, 8);
    return problem_of("aten::_reshape_alias", "", {part, std::move(sizes), std::move(strides)});
  };
  EXPECT_EQ(problem({3, 4}, {4, 1}), "");
  EXPECT_EQ(problem({0, 1000}, {1000, 1}), "");
  EXPECT_THAT(problem({13}, {1}), HasSubstr("sizes [13] with strides [1] reach beyond the memory"));
  EXPECT_THAT(problem({2, 2}, {int64_t{1} << 62, int64_t{1} << 62}), HasSubstr("reach beyond"));
  EXPECT_THAT(problem({2}, {-1}), HasSubstr("reach beyond"));
  EXPECT_EQ(problem({2}, {}), "there are 1 sizes and 0 strides");
}

TEST(ArgumentShapes, OfATransformHaveItsDimensions) {
  const auto problem = [](int64_t dim) {
    return problem_of("aten::_fft_c2r", "", {at::zeros({4}, at::kComplexFloat), Sizes{dim}, 0, 6});
  };
  EXPECT_EQ(problem(0), "");
  EXPECT_EQ(problem(9), "there is no dimension 9 of 1");
}

// LibTorch ends the process for some of these.
TEST(ArgumentShapes, AreLookedAtBeforeANodeRuns) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 12, 16}));
  const V state = graph.input("state", at::zeros({1, 2, 32}));
  VList parameters;
  for (const Sizes& sizes : {Sizes{128, 16}, Sizes{128, 32}, Sizes{128}, Sizes{128}}) {
    parameters.push_back(
        graph.weight(fmt::format("p{}", parameters.size()), at::randn(at::IntArrayRef(sizes))));
  }
  const std::vector<V> outputs = graph.call(
      "aten.lstm.input", {x, VList{state, state}, parameters, Attribute(true), Attribute(1),
                          Attribute(0.0), Attribute(false), Attribute(false), Attribute(true)});
  graph.output(outputs[0]);
  EXPECT_EQ(compile(graph.ir, graph.weights).run(graph.inputs)[0].sizes(), Sizes({2, 12, 32}));
  graph.weights["p1"] = at::zeros({0, 32});
  for (TensorMeta& weight : graph.ir.weights) {
    if (weight.name == "p1") weight.shape = {0, 32};
  }
  for (TensorMeta& input : graph.ir.nodes.at(0).inputs) {
    if (input.name == "p_p1") input.shape = {0, 32};
  }
  EXPECT_THAT([&] { compile(graph.ir, graph.weights).run(graph.inputs); },
              ThrowsMessage<ExecutionError>(
                  HasSubstr("params 1 has shape [0, 32], but should have [128, 32]")));
}

}  // namespace
}  // namespace torch_ir
