// Tests the traces that the level `fast` makes with oneDNN, and that their results are within 1e-4
// of eager's.

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linspace.h>
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
  graph.output(aten(graph, "flatten.using_ints", {z, 1}));
  EXPECT_EQ(fault_at_fast(graph, Calls(3, winograd())), "");
}

TEST_F(FuseTrace, SharesCopiesThatNobodyWrites) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 16, 8}));
  const V y = aten(graph, "mul.Tensor", {x, x});
  const V copy = aten(graph, "clone", {y});
  const V column = aten(graph, "select.int", {copy, 1, 3});
  graph.output(aten(graph, "exp", {column}));
  graph.output(aten(graph, "clone", {y}));
  const V written = aten(graph, "clone", {y});
  const V first = aten(graph, "select.int", {written, 1, 0});
  graph.call("aten.mul_.Tensor", {first, first});
  graph.output(aten(graph, "cos", {written}));
  EXPECT_EQ(fault_at_fast(graph, "aten::clone", 2), "");
}

TEST_F(FuseTrace, KeepsTheOrderOfArguments) {
  EagerGraph graph;
  const V y = aten(graph, "exp", {graph.input("x", at::randn({5, 7}))});
  graph.call("aten.polygamma_.default", {y, 1});
  graph.output(aten(graph, "tanh", {y}));
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
      return aten(graph, "slice.Tensor", {of, 0, 0, channels});
    };
    const V y = aten(graph, "conv2d", {x, part(w), {}, pair(1), pair(1)});
    graph.output(
        aten(graph, "batch_norm",
             {y, part(all[0]), part(all[1]), part(all[2]), part(all[3]), false, 0.1, 1e-5, false}));
  }
  EXPECT_EQ(fault_at_fast(graph, Calls(2, kConvolution)), "");
}

TEST_F(FuseTrace, LeavesComplexNumbers) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4, 3}, at::kComplexFloat));
  const V unit = graph.weight("i", at::full({}, c10::complex<double>(0, 1), at::kComplexFloat));
  const V turned = aten(graph, "mul.Tensor", {x, unit});
  const V product = aten(graph, "mul.Tensor", {turned, x});
  graph.output(aten(graph, "add.Tensor", {product, unit}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, KeepsCopiesSeenInAnotherDtype) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4, 3}, at::kComplexFloat));
  const V y = aten(graph, "mul.Tensor", {x, x});
  const V part = aten(graph, "slice.Tensor", {y, 0, 1, 4});
  const V copy = aten(graph, "clone", {part});
  graph.output(aten(graph, "exp", {aten(graph, "view_as_real", {copy})}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, PacksLinearLayers) {
  for (const int64_t rows : {1, 5, 64}) {
    for (const char* activation : {"relu", "gelu", "silu", "tanh", "sigmoid"}) {
      EagerGraph graph;
      const V x = graph.input("x", at::randn({2, rows, 100}));
      const V w = graph.weight("w", at::randn({130, 100}) / 10);
      const V y = aten(graph, "linear", {x, w, graph.weight("b", at::randn({130}))});
      const V z = aten(graph, activation, {y});
      graph.output(aten(graph, "linear", {z, graph.weight("v", at::randn({40, 130}))}));
      EXPECT_EQ(std::ranges::count(calls_at_fast(graph), kProduct), 2);
      EXPECT_EQ(fault_without_aten(graph), "") << activation;
    }
  }
}

struct Activated {
  std::string op;
  std::vector<EagerArgument> more_arguments = {};
};

// Our own kernels, also at values for which the exponential is clipped. The size is not a multiple
// of a vector's.
TEST_F(FuseTrace, AppliesActivationsAsPreciselyAsEager) {
  for (const Activated& activated : {Activated{"silu"}, Activated{"gelu"},
                                     Activated{"gelu", {"tanh"}}, Activated{"hardswish"}}) {
    SCOPED_TRACE(activated.op);
    EagerGraph graph;
    at::Tensor data = at::linspace(-120, 120, 41 * 67).view({41, 67});
    data[5][0] = -1e15;
    const V x = graph.input("x", data);
    std::vector<EagerArgument> arguments = activated.more_arguments;
    arguments.insert(arguments.begin(), aten(graph, "linear", {x, graph.weight("w", at::eye(67))}));
    graph.output(aten(graph, activated.op, arguments));
    EXPECT_EQ(std::ranges::count(calls_at_fast(graph), "torch_ir::activation"), 1);
    const at::Tensor output = fast_plan(graph).run(graph.inputs)[0];
    EXPECT_TRUE(at::allclose(output, graph.expected()[0], 1e-5, 2e-6));
  }
}

// As ResMLP does.
TEST_F(FuseTrace, PacksLinearLayersOfTransposedRows) {
  EagerGraph graph;
  const V x = aten(graph, "exp", {graph.input("x", at::randn({100, 64}))});
  const V w = graph.weight("w", at::randn({130, 100}) / 10);
  const V y = aten(graph, "linear", {aten(graph, "t", {x}), w});
  graph.output(y);
  EXPECT_EQ(fault_at_fast(graph, Calls{"aten::exp", kProduct}), "");
}

// More of them than a cache keeps; for few rows they stay as they are.
TEST_F(FuseTrace, MultipliesWithManyWeights) {
  for (const int64_t rows : {1, 3, 4}) {
    EagerGraph graph;
    const V x = graph.input("x", at::randn({rows, 1024}));
    const V y = aten(graph, "linear", {x, graph.weight("w", at::randn({512, 1024}))});
    graph.output(aten(graph, "relu", {y}));
    EXPECT_EQ(fault_at_fast(graph, Calls{kProduct}), "");
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
      const V y = aten(graph, "linear", {input, weight, graph.weight("b", b.to(dtype))});
      const V z = aten(graph, activation, {y});
      const V other = aten(graph, "linear", {input, weight});
      graph.output(aten(graph, "add.Tensor", {other, aten(graph, "linear", {z, weight})}));
    };
    EagerGraph graph;
    build(graph, at::kBFloat16);
    EXPECT_EQ(calls_at_fast(graph), Calls(3, kProduct));
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
  const V y = aten(graph, "linear", {graph.input("x", x), w});
  graph.output(aten(graph, "relu", {y}));
  EXPECT_TRUE(same_bits(fast_plan(graph).run(graph.inputs)[0], graph.expected()[0]));
}

TEST_F(FuseTrace, AddsToLinearLayers) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 32, 64}));
  const V w = graph.weight("w", at::randn({64, 64}) / 8);
  const V b = graph.weight("b", at::randn({64}));
  const V first = aten(graph, "add.Tensor", {aten(graph, "linear", {x, w, b}), x});
  const V second = aten(graph, "add.Tensor", {first, aten(graph, "linear", {first, w, b})});
  const V gate = aten(graph, "silu", {aten(graph, "linear", {second, w})});
  graph.output(aten(graph, "mul.Tensor", {gate, aten(graph, "linear", {second, w, b})}));
  graph.output(second);
  // The first addend is an input, and the last two are not additions.
  EXPECT_EQ(fault_at_fast(graph, Calls{kProduct, "aten::add", kProduct, "aten::add", kProduct,
                                       "torch_ir::activation", kProduct, "aten::mul"}),
            "");
}

TEST_F(FuseTrace, TellsLinearLayersAndActivationsOfOneOperatorApart) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({32, 64}));
  for (const double beta : {1.0, 0.5}) {
    const V bias = graph.weight(fmt::format("bias{}", beta), at::randn({64}));
    const V matrix = graph.weight(fmt::format("matrix{}", beta), at::randn({64, 64}) / 8);
    graph.output(aten(graph, "addmm", {bias, x, matrix, beta}));
  }
  const V weight = graph.weight("weight", at::randn({64, 64}) / 8);
  const auto linear = [&] { return aten(graph, "linear", {x, weight}); };
  graph.output(aten(graph, "gelu", {linear()}));
  graph.output(aten(graph, "gelu", {linear(), "tanh"}));
  graph.output(aten(graph, "elu", {linear()}));
  graph.output(aten(graph, "selu", {linear()}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// As Hugging Face spells it, if `cubic` and `one` are 1.
V spelled_gelu(EagerGraph& graph, const V& x, const at::Tensor& half, double cubic, double one) {
  const V halved = aten(graph, "mul.Tensor", {x, graph.weight("half", half)});
  const V cube = aten(graph, "pow.Tensor_Scalar", {x, 3.0});
  const V scaled = aten(graph, "mul.Tensor", {cube, graph.weight("c", at::full({}, 0.044715))});
  const V sum = aten(graph, "add.Tensor", {x, scaled, cubic});
  const V tanh = aten(graph, "tanh", {aten(graph, "mul.Tensor", {sum, 0.7978845608028654})});
  const V factor = aten(graph, "add.Tensor", {tanh, graph.weight("one", at::full({}, 1.0)), one});
  return aten(graph, "mul.Tensor", {halved, factor});
}

TEST_F(FuseTrace, RecognizesGelu) {
  for (const auto& [cubic, one] : {std::pair(1.0, 1.0), {2.0, 1.0}, {1.0, 0.5}}) {
    EagerGraph graph;
    const V x = graph.input("x", at::randn({2, 16, 64}));
    const V y = aten(graph, "linear", {x, graph.weight("w", at::randn({80, 64}) / 8)});
    graph.output(spelled_gelu(graph, y, at::full({}, 0.5), cubic, one));
    EXPECT_EQ(calls_at_fast(graph) == (Calls{kProduct, "torch_ir::activation"}),
              cubic == 1 && one == 1);
    EXPECT_EQ(difference_at_fast(graph), "") << cubic << ' ' << one;
  }
}

// A factor of float64 makes the result float64, if it has a dimension and the other has none.
TEST_F(FuseTrace, LeavesGeluOfTwoDtypes) {
  EagerGraph graph;
  const V x = graph.input("x", at::full({}, 0.7));
  graph.output(spelled_gelu(graph, x, at::full({1}, 0.5, at::kDouble), 1, 1));
  EXPECT_EQ(fault_at_fast(graph, "aten::gelu", 0), "");
}

// As Whisper's encoder does; the first sum would have the layout of the permuted operand.
TEST_F(FuseTrace, AddsToLinearLayersAfterPermutations) {
  for (const bool is_output : {false, true}) {
    EagerGraph graph;
    const V x = graph.input("x", at::randn({2, 64, 20}));
    const V permuted =
        aten(graph, "permute", {aten(graph, "exp", {x}), Attribute::list({0, 2, 1})});
    const V y = aten(graph, "add.Tensor", {permuted, graph.weight("p", at::randn({20, 64}))});
    const V norm = aten(graph, "layer_norm", {y, Attribute::list({64})});
    const V linear = aten(graph, "linear", {norm, graph.weight("w", at::randn({64, 64}) / 8)});
    const V z = aten(graph, "add.Tensor", {y, linear});
    graph.output(aten(graph, "layer_norm", {z, Attribute::list({64})}));
    if (is_output) graph.output(y);
    EXPECT_EQ(fault_at_fast(graph, "aten::add", is_output ? 2 : 1), "");
  }
}

V spelled_norm(EagerGraph& graph, const V& x, const V& mean, const V& weight) {
  const V sum = aten(graph, "add.Tensor", {mean, 1e-5});
  const V scaled = aten(graph, "mul.Tensor", {x, aten(graph, "rsqrt", {sum})});
  return aten(graph, "mul.Tensor", {weight, scaled});
}

V mean_square(EagerGraph& graph, const V& x) {
  const V square = aten(graph, "pow.Tensor_Scalar", {x, 2});
  return aten(graph, "mean.dim", {square, Attribute::list({-1}), true});
}

// As Llama and T5 spell it.
TEST_F(FuseTrace, RecognizesRmsNorm) {
  for (const int64_t size : {64, 40, 3}) {
    for (const bool is_read : {false, true}) {
      EagerGraph graph;
      const V x = aten(graph, "exp", {graph.input("x", at::randn({2, 5, size}))});
      const V mean = mean_square(graph, x);
      graph.output(spelled_norm(graph, x, mean, graph.weight("w", at::randn({size}))));
      if (is_read) graph.output(aten(graph, "cos", {mean}));
      EXPECT_EQ(calls_at_fast(graph) == (Calls{"aten::exp", "torch_ir::rms_norm"}), !is_read);
      EXPECT_EQ(difference_at_fast(graph), "") << size;
    }
  }
}

// Its weight is a number, with which a linear layer could scale.
TEST_F(FuseTrace, NormsOneNumberAfterALinearLayer) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({512, 16}));
  const V y = aten(
      graph, "linear",
      {x, graph.weight("v", at::randn({1, 16}) / 100), graph.weight("b", at::randn({1}) / 100)});
  graph.output(
      spelled_norm(graph, y, mean_square(graph, y), graph.weight("w", at::full({1}, 0.7))));
  EXPECT_EQ(calls_at_fast(graph).back(), "torch_ir::rms_norm");
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, LeavesOtherDtypesAndSmallLinearLayers) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({1, 16, 8, 8}).to(at::kDouble));
  const V w = graph.weight("w", at::randn({16, 16, 3, 3}).to(at::kDouble));
  graph.output(aten(graph, "conv2d", {x, w}));
  const V small = graph.input("small", at::randn({1, 8}));
  graph.output(aten(graph, "linear", {small, graph.weight("v", at::randn({8, 8}))}));
  EXPECT_THAT(calls_at_fast(graph), Each(Not(StartsWith("onednn"))));
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST_F(FuseTrace, TakesInputsInAnyLayout) {
  EagerGraph graph;
  // Frames of a signal overlap.
  const V frames = aten(graph, "unfold", {graph.input("s", at::randn({2000})), 0, 400, 160});
  graph.output(aten(graph, "linear", {frames, graph.weight("u", at::randn({80, 400}))}));
  // Every other column, of an odd number.
  const V columns =
      aten(graph, "slice.Tensor", {graph.input("c", at::randn({64, 161})), 1, 0, 161, 2});
  graph.output(aten(graph, "linear", {columns, graph.weight("t", at::randn({80, 81}))}));
  const V x = graph.input("x", at::randn({2, 12, 12, 16}).permute({0, 3, 1, 2}));
  const V y = convolution(graph, x, "a", {});
  graph.output(aten(graph, "relu", {y}));
  const V z = graph.input("z", at::randn({64, 2, 80}).transpose(0, 1));
  graph.output(aten(graph, "linear", {z, graph.weight("v", at::randn({80, 80}))}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, RunsOnTheThreadsThatLibTorchHas) {
  EagerGraph graph;
  const ConvolutionCase shape{.in = 64, .out = 64, .size = 28};
  const V y = convolution(graph, image(graph, shape), "a", shape);
  const V z = convolution(graph, aten(graph, "relu", {y}), "b",
                          {.in = 64, .out = 32, .size = 28, .kernel = 1});
  const V rows = view(graph, z, {32, 784});
  graph.output(aten(graph, "linear", {rows, graph.weight("w", at::randn({50, 784}) / 28)}));
  const ExecutionPlan plan = fast_plan(graph);
  for (const int threads : {1, 2, 1, 2}) {
    at::set_num_threads(threads);
    for (int round = 0; round < 3; ++round) {
      EXPECT_TRUE(at::allclose(plan.run(graph.inputs)[0], graph.expected()[0], 1e-4, 1e-4));
    }
  }
}

}  // namespace
}  // namespace torch_ir
