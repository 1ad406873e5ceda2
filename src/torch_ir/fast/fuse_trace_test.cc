// Tests the traces that the level `fast` makes with oneDNN, and that their results are within 1e-4
// of eager's.

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "torch_ir/fast/onednn/primitive.h"
#include "torch_ir/fast/testing/fuse_trace_fixture.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

using testing::Each;
using testing::Not;
using testing::StartsWith;

TEST_F(FuseTrace, IsTheLevelFast) {
  EXPECT_EQ(choose_optimization("fast"), Optimization::kFast);
  ExecutionOptions options;
  EXPECT_EQ(running_level(options), Optimization::kExact);
  options.optimization = Optimization::kFast;
  EXPECT_EQ(running_level(options), Optimization::kFast);
  options.trace = false;
  EXPECT_EQ(running_level(options), Optimization::kExact);
}

TEST_F(FuseTrace, WritesInPlaceAsFunctions) {
  EagerGraph graph;
  const ConvolutionCase shape{.in = 48, .out = 48};
  const V x = image(graph, shape);
  const V y = batch_norm(graph, convolution(graph, x, "a", shape, false), "norm", 48);
  graph.call("aten.relu_.default", {y});
  const V z = convolution(graph, convolution(graph, y, "b", shape), "c", shape);
  graph.call("aten.add_.Tensor", {z, y});
  graph.call("aten.relu_.default", {z});
  graph.output(graph.call1("aten.flatten.using_ints", {z, 1}));
  EXPECT_EQ(calls_at_fast(graph), Calls(3, winograd()));
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, SharesCopiesThatNobodyWrites) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 16, 8}));
  const V y = graph.call1("aten.mul.Tensor", {x, x});
  const V copy = graph.call1("aten.clone.default", {y});
  const V column = graph.call1("aten.select.int", {copy, 1, 3});
  graph.output(graph.call1("aten.exp.default", {column}));
  graph.output(graph.call1("aten.clone.default", {y}));
  const V written = graph.call1("aten.clone.default", {y});
  const V first = graph.call1("aten.select.int", {written, 1, 0});
  graph.call("aten.mul_.Tensor", {first, first});
  graph.output(graph.call1("aten.cos.default", {written}));
  const auto calls = calls_at_fast(graph);
  EXPECT_EQ(std::ranges::count(calls, "aten::clone"), 2);
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, KeepsTheOrderOfArguments) {
  EagerGraph graph;
  const V y = graph.call1("aten.exp.default", {graph.input("x", at::randn({5, 7}))});
  graph.call("aten.polygamma_.default", {y, 1});
  graph.output(graph.call1("aten.tanh.default", {y}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// As a network whose width is chosen: layers of the first channels of all.
TEST_F(FuseTrace, TellsPartsOfWeightsApart) {
  EagerGraph graph;
  const V x = image(graph);
  const V w = graph.weight("w", at::randn({32, 16, 3, 3}) / 12);
  std::vector<V> all;
  for (const char* name : {"weight", "bias", "mean"}) {
    all.push_back(graph.weight(name, at::randn({32})));
  }
  all.push_back(graph.weight("variance", at::rand({32}) + 0.5));
  for (const int64_t channels : {16, 32}) {
    const auto part = [&](const V& of) {
      return graph.call1("aten.slice.Tensor", {of, 0, 0, channels});
    };
    const V y = graph.call1("aten.conv2d.default", {x, part(w), {}, pair(1), pair(1)});
    graph.output(graph.call1(
        "aten.batch_norm.default",
        {y, part(all[0]), part(all[1]), part(all[2]), part(all[3]), false, 0.1, 1e-5, false}));
  }
  EXPECT_EQ(calls_at_fast(graph), Calls(2, "onednn::convolution"));
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, LeavesComplexNumbers) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4, 3}, at::kComplexFloat));
  const V unit = graph.weight("i", at::full({}, c10::complex<double>(0, 1), at::kComplexFloat));
  const V turned = graph.call1("aten.mul.Tensor", {x, unit});
  const V product = graph.call1("aten.mul.Tensor", {turned, x});
  graph.output(graph.call1("aten.add.Tensor", {product, unit}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, KeepsCopiesSeenInAnotherDtype) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4, 3}, at::kComplexFloat));
  const V y = graph.call1("aten.mul.Tensor", {x, x});
  const V part = graph.call1("aten.slice.Tensor", {y, 0, 1, 4});
  const V copy = graph.call1("aten.clone.default", {part});
  graph.output(graph.call1("aten.exp.default", {graph.call1("aten.view_as_real.default", {copy})}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, PacksLinearLayers) {
  for (const int64_t rows : {1, 5, 64}) {
    for (const char* activation : {"relu", "gelu", "silu", "tanh", "sigmoid"}) {
      EagerGraph graph;
      const V x = graph.input("x", at::randn({2, rows, 100}));
      const V w = graph.weight("w", at::randn({130, 100}) / 10);
      const V y = graph.call1("aten.linear.default", {x, w, graph.weight("b", at::randn({130}))});
      const V z = graph.call1(fmt::format("aten.{}.default", activation), {y});
      graph.output(
          graph.call1("aten.linear.default", {z, graph.weight("v", at::randn({40, 130}))}));
      EXPECT_EQ(std::ranges::count(calls_at_fast(graph), "onednn::inner_product"), 2);
      EXPECT_THAT(calls_at_fast(graph), Each(Not(StartsWith("aten::"))));
      EXPECT_EQ(difference_at_fast(graph), "") << activation;
    }
  }
}

// As ResMLP does.
TEST_F(FuseTrace, PacksLinearLayersOfTransposedRows) {
  EagerGraph graph;
  const V x = graph.call1("aten.exp.default", {graph.input("x", at::randn({100, 64}))});
  const V w = graph.weight("w", at::randn({130, 100}) / 10);
  const V y = graph.call1("aten.linear.default", {graph.call1("aten.t.default", {x}), w});
  graph.output(y);
  EXPECT_EQ(calls_at_fast(graph), (Calls{"aten::exp", "onednn::inner_product"}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// More of them than a cache keeps; for few rows they stay as they are.
TEST_F(FuseTrace, MultipliesWithManyWeights) {
  for (const int64_t rows : {1, 3, 4}) {
    EagerGraph graph;
    const V x = graph.input("x", at::randn({rows, 1024}));
    const V y = graph.call1("aten.linear.default", {x, graph.weight("w", at::randn({512, 1024}))});
    graph.output(graph.call1("aten.relu.default", {y}));
    EXPECT_EQ(calls_at_fast(graph), Calls{"onednn::inner_product"});
    EXPECT_EQ(difference_at_fast(graph), "");
  }
}

// Sums and functions are of floats, rounded once: no farther from float64 than eager. The largest
// error is a matter of luck, so it is the RMS that counts.
TEST_F(FuseTrace, PacksLinearLayersOfBfloat16) {
  if (!onednn::multiplies_bfloat16()) GTEST_SKIP() << "the processor does not multiply bfloat16";
  const auto random = [](at::IntArrayRef sizes) { return at::randn(sizes).to(at::kBFloat16); };
  for (const char* activation : {"relu", "gelu", "silu", "hardtanh"}) {
    const at::Tensor x = random({2, 20, 96});
    const at::Tensor w = random({96, 96}) / 8;
    const at::Tensor b = random({96});
    const auto build = [&](EagerGraph& graph, at::ScalarType dtype) {
      const V input = graph.input("x", x.to(dtype));
      const V weight = graph.weight("w", w.to(dtype));
      const V y =
          graph.call1("aten.linear.default", {input, weight, graph.weight("b", b.to(dtype))});
      const V z = graph.call1(fmt::format("aten.{}.default", activation), {y});
      const V other = graph.call1("aten.linear.default", {input, weight});
      graph.output(
          graph.call1("aten.add.Tensor", {other, graph.call1("aten.linear.default", {z, weight})}));
    };
    EagerGraph graph;
    build(graph, at::kBFloat16);
    EXPECT_EQ(calls_at_fast(graph), Calls(3, "onednn::inner_product"));
    EagerGraph exact;
    build(exact, at::kDouble);
    const auto error_of = [&](const at::Tensor& output) {
      return (output.to(at::kDouble) - exact.expected()[0]).square().mean().sqrt().item<double>();
    };
    const double error = error_of(graph.expected()[0]);
    const auto judge = [&](const std::vector<at::Tensor>& outputs, size_t index) {
      return error_of(outputs[index]) > error ? "farther than eager" : "";
    };
    EXPECT_EQ(difference_at_fast(graph, judge), "") << activation;
  }
}

TEST_F(FuseTrace, RunsBfloat16ThatIsNotFiniteAsExact) {
  EagerGraph graph;
  at::Tensor x = at::randn({32, 64}).to(at::kBFloat16);
  x[3][5] = std::numeric_limits<double>::quiet_NaN();
  const V w = graph.weight("w", at::randn({64, 64}).to(at::kBFloat16));
  const V y = graph.call1("aten.linear.default", {graph.input("x", x), w});
  graph.output(graph.call1("aten.relu.default", {y}));
  EXPECT_TRUE(same_bits(fast_plan(graph).run(graph.inputs)[0], graph.expected()[0]));
}

TEST_F(FuseTrace, AddsToLinearLayers) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 32, 64}));
  const V w = graph.weight("w", at::randn({64, 64}) / 8);
  const V b = graph.weight("b", at::randn({64}));
  const V first =
      graph.call1("aten.add.Tensor", {graph.call1("aten.linear.default", {x, w, b}), x});
  const V second =
      graph.call1("aten.add.Tensor", {first, graph.call1("aten.linear.default", {first, w, b})});
  const V gate =
      graph.call1("aten.silu.default", {graph.call1("aten.linear.default", {second, w})});
  graph.output(
      graph.call1("aten.mul.Tensor", {gate, graph.call1("aten.linear.default", {second, w, b})}));
  graph.output(second);
  // The first addend is an input, and the last two are not additions.
  EXPECT_EQ(calls_at_fast(graph),
            (Calls{"onednn::inner_product", "aten::add", "onednn::inner_product", "aten::add",
                   "onednn::inner_product", "torch_ir::activation", "onednn::inner_product",
                   "aten::mul"}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, TellsLinearLayersAndActivationsOfOneOperatorApart) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({32, 64}));
  for (const double beta : {1.0, 0.5}) {
    const V bias = graph.weight(fmt::format("bias{}", beta), at::randn({64}));
    const V matrix = graph.weight(fmt::format("matrix{}", beta), at::randn({64, 64}) / 8);
    graph.output(graph.call1("aten.addmm.default", {bias, x, matrix, beta}));
  }
  const V weight = graph.weight("weight", at::randn({64, 64}) / 8);
  const auto linear = [&] { return graph.call1("aten.linear.default", {x, weight}); };
  graph.output(graph.call1("aten.gelu.default", {linear()}));
  graph.output(graph.call1("aten.gelu.default", {linear(), "tanh"}));
  graph.output(graph.call1("aten.elu.default", {linear()}));
  graph.output(graph.call1("aten.selu.default", {linear()}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// As Hugging Face spells it; with other factors of the terms it is another function.
TEST_F(FuseTrace, RecognizesGelu) {
  for (const auto& [cubic, one] : {std::pair(1.0, 1.0), {2.0, 1.0}, {1.0, 0.5}}) {
    EagerGraph graph;
    const V x = graph.input("x", at::randn({2, 16, 64}));
    const V y = graph.call1("aten.linear.default", {x, graph.weight("w", at::randn({80, 64}) / 8)});
    const V half = graph.call1("aten.mul.Tensor", {y, graph.weight("half", at::full({}, 0.5))});
    const V cube = graph.call1("aten.pow.Tensor_Scalar", {y, 3.0});
    const V scaled =
        graph.call1("aten.mul.Tensor", {cube, graph.weight("c", at::full({}, 0.044715))});
    const V sum = graph.call1("aten.add.Tensor", {y, scaled, cubic});
    const V inner =
        graph.call1("aten.mul.Tensor", {sum, graph.weight("d", at::full({}, 0.7978845608028654))});
    const V tanh = graph.call1("aten.tanh.default", {inner});
    const V factor =
        graph.call1("aten.add.Tensor", {tanh, graph.weight("one", at::full({}, 1.0)), one});
    graph.output(graph.call1("aten.mul.Tensor", {half, factor}));
    EXPECT_EQ(calls_at_fast(graph) == (Calls{"onednn::inner_product", "torch_ir::activation"}),
              cubic == 1 && one == 1);
    EXPECT_EQ(difference_at_fast(graph), "") << cubic << ' ' << one;
  }
}

// A factor of float64 makes the result float64, if it has a dimension and the other has none.
TEST_F(FuseTrace, LeavesGeluOfTwoDtypes) {
  EagerGraph graph;
  const V x = graph.input("x", at::full({}, 0.7));
  const auto constant = [&](const char* name, double value) {
    return graph.weight(name, at::full({1}, value, at::kDouble));
  };
  const V half = graph.call1("aten.mul.Tensor", {x, constant("half", 0.5)});
  const V cube = graph.call1("aten.pow.Tensor_Scalar", {x, 3.0});
  const V scaled = graph.call1("aten.mul.Tensor", {cube, 0.044715});
  const V sum = graph.call1("aten.add.Tensor", {x, scaled});
  const V inner = graph.call1("aten.mul.Tensor", {sum, 0.7978845608028654});
  const V tanh = graph.call1("aten.tanh.default", {inner});
  graph.output(graph.call1("aten.mul.Tensor", {half, graph.call1("aten.add.Tensor", {tanh, 1.0})}));
  EXPECT_THAT(calls_at_fast(graph), testing::Not(testing::Contains("aten::gelu")));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// As Whisper's encoder does; the first sum would have the layout of the permuted operand.
TEST_F(FuseTrace, AddsToLinearLayersAfterPermutations) {
  for (const bool is_output : {false, true}) {
    EagerGraph graph;
    const V x = graph.input("x", at::randn({2, 64, 20}));
    const V permuted = graph.call1(
        "aten.permute.default", {graph.call1("aten.exp.default", {x}), Attribute::list({0, 2, 1})});
    const V y = graph.call1("aten.add.Tensor", {permuted, graph.weight("p", at::randn({20, 64}))});
    const V norm = graph.call1("aten.layer_norm.default", {y, Attribute::list({64})});
    const V linear =
        graph.call1("aten.linear.default", {norm, graph.weight("w", at::randn({64, 64}) / 8)});
    const V z = graph.call1("aten.add.Tensor", {y, linear});
    graph.output(graph.call1("aten.layer_norm.default", {z, Attribute::list({64})}));
    if (is_output) graph.output(y);
    const auto calls = calls_at_fast(graph);
    EXPECT_EQ(std::ranges::count(calls, "aten::add"), is_output ? 2 : 1);
    EXPECT_EQ(difference_at_fast(graph), "");
  }
}

V spelled_norm(EagerGraph& graph, const V& x, const V& mean, const V& weight) {
  const V sum = graph.call1("aten.add.Tensor", {mean, 1e-5});
  const V scaled = graph.call1("aten.mul.Tensor", {x, graph.call1("aten.rsqrt.default", {sum})});
  return graph.call1("aten.mul.Tensor", {weight, scaled});
}

V mean_square(EagerGraph& graph, const V& x) {
  const V square = graph.call1("aten.pow.Tensor_Scalar", {x, 2});
  return graph.call1("aten.mean.dim", {square, Attribute::list({-1}), true});
}

// As Llama and T5 spell it.
TEST_F(FuseTrace, RecognizesRmsNorm) {
  for (const int64_t size : {64, 40, 3}) {
    for (const bool is_read : {false, true}) {
      EagerGraph graph;
      const V x = graph.call1("aten.exp.default", {graph.input("x", at::randn({2, 5, size}))});
      const V mean = mean_square(graph, x);
      graph.output(spelled_norm(graph, x, mean, graph.weight("w", at::randn({size}))));
      if (is_read) graph.output(graph.call1("aten.cos.default", {mean}));
      EXPECT_EQ(calls_at_fast(graph) == (Calls{"aten::exp", "torch_ir::rms_norm"}), !is_read);
      EXPECT_EQ(difference_at_fast(graph), "") << size;
    }
  }
}

// Its weight is a number, with which a linear layer could scale.
TEST_F(FuseTrace, NormsOneNumberAfterALinearLayer) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({512, 16}));
  const V y = graph.call1("aten.linear.default", {x, graph.weight("v", at::randn({1, 16}) / 100),
                                                  graph.weight("b", at::randn({1}) / 100)});
  graph.output(
      spelled_norm(graph, y, mean_square(graph, y), graph.weight("w", at::full({1}, 0.7))));
  EXPECT_EQ(calls_at_fast(graph).back(), "torch_ir::rms_norm");
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, LeavesOtherDtypesAndSmallLinearLayers) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({1, 16, 8, 8}).to(at::kDouble));
  const V w = graph.weight("w", at::randn({16, 16, 3, 3}).to(at::kDouble));
  graph.output(graph.call1("aten.conv2d.default", {x, w}));
  const V small = graph.input("small", at::randn({1, 8}));
  graph.output(graph.call1("aten.linear.default", {small, graph.weight("v", at::randn({8, 8}))}));
  EXPECT_THAT(calls_at_fast(graph), Each(Not(StartsWith("onednn"))));
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST_F(FuseTrace, TakesInputsInAnyLayout) {
  EagerGraph graph;
  // Frames of a signal overlap.
  const V frames =
      graph.call1("aten.unfold.default", {graph.input("s", at::randn({2000})), 0, 400, 160});
  graph.output(
      graph.call1("aten.linear.default", {frames, graph.weight("u", at::randn({80, 400}))}));
  // Every other column, of an odd number.
  const V columns =
      graph.call1("aten.slice.Tensor", {graph.input("c", at::randn({64, 161})), 1, 0, 161, 2});
  graph.output(
      graph.call1("aten.linear.default", {columns, graph.weight("t", at::randn({80, 81}))}));
  const V x = graph.input("x", at::randn({2, 12, 12, 16}).permute({0, 3, 1, 2}));
  const V y = convolution(graph, x, "a", {});
  graph.output(graph.call1("aten.relu.default", {y}));
  const V z = graph.input("z", at::randn({64, 2, 80}).transpose(0, 1));
  graph.output(graph.call1("aten.linear.default", {z, graph.weight("v", at::randn({80, 80}))}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, RunsOnTheThreadsThatLibTorchHas) {
  EagerGraph graph;
  const ConvolutionCase shape{.in = 64, .out = 64, .size = 28};
  const V y = convolution(graph, image(graph, shape), "a", shape);
  const V z = convolution(graph, graph.call1("aten.relu.default", {y}), "b",
                          {.in = 64, .out = 32, .size = 28, .kernel = 1, .padding = 0});
  const V rows = graph.call1("aten.view.default", {z, Attribute::list({32, 784})});
  graph.output(
      graph.call1("aten.linear.default", {rows, graph.weight("w", at::randn({50, 784}) / 28)}));
  const ExecutionPlan plan = fast_plan(graph);
  const int before = at::get_num_threads();
  for (const int threads : {1, 2, 1, 2}) {
    at::set_num_threads(threads);
    for (int round = 0; round < 3; ++round) {
      EXPECT_TRUE(at::allclose(plan.run(graph.inputs)[0], graph.expected()[0], 1e-4, 1e-4));
    }
  }
  at::set_num_threads(before);
}

}  // namespace
}  // namespace torch_ir
