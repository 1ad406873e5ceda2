// Quantised layers at level `fast`, against LibTorch's: sums of integers are exact, and only a
// value that lies between two steps may be rounded to the other.

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "torch_ir/fast/onednn/primitive.h"
#include "torch_ir/fast/quantized.h"
#include "torch_ir/fast/testing/fuse_trace_fixture.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

struct Scheme {
  double scale;
  int64_t zero_point;
  at::ScalarType dtype = at::kChar;

  std::vector<EagerArgument> of(const V& value) const {
    const bool is_signed = dtype == at::kChar;
    return {value, scale, zero_point, is_signed ? -128 : 0, is_signed ? 127 : 255, dtype};
  }
};

V quantize(EagerGraph& graph, const V& value, const Scheme& scheme) {
  return graph.call1("quantized_decomposed.quantize_per_tensor.default", scheme.of(value));
}

V dequantize(EagerGraph& graph, const V& value, const Scheme& scheme) {
  return graph.call1("quantized_decomposed.dequantize_per_tensor.default", scheme.of(value));
}

V round_trip(EagerGraph& graph, const V& value, const Scheme& scheme) {
  return dequantize(graph, quantize(graph, value, scheme), scheme);
}

V weight(EagerGraph& graph, const std::string& name, at::IntArrayRef sizes,
         bool is_per_channel = true) {
  const at::Tensor values = at::randint(-127, 128, sizes, at::kChar);
  const V integers = graph.weight(name, values);
  if (!is_per_channel) return dequantize(graph, integers, {0.003, 0});
  const int64_t channels = sizes[0];
  return graph.call1("quantized_decomposed.dequantize_per_channel.default",
                     {integers, graph.weight(name + ".scale", at::rand({channels}) * 0.01 + 1e-4),
                      graph.weight(name + ".zero_point", at::zeros({channels}, at::kLong)), 0, -127,
                      127, at::kChar});
}

const Scheme kSchemes[] = {{0.031, -7}, {0.05, 0}, {0.04, 128, at::kByte}, {0.02, 0, at::kByte}};

constexpr const char* kQuantize = "torch_ir::quantize";
constexpr const char* kDequantize = "torch_ir::dequantize";

// Accepts roundings; `step` is that of outputs that are dequantized.
SecondJudge rounds(const EagerGraph& graph, double step) {
  return [&graph, step](const std::vector<at::Tensor>& outputs, size_t index) {
    const double unit = outputs[index].is_floating_point() ? step : 1;
    const at::Tensor difference =
        (outputs[index].to(at::kDouble) - graph.expected()[index].to(at::kDouble)).abs();
    if (difference.max().item<double>() > unit * 1.001) return "more than a step";
    const double share = difference.gt(unit / 2).to(at::kDouble).mean().item<double>();
    return share > 0.01 ? "at too many places" : "";
  };
}

std::string rounding_fault(const EagerGraph& graph, const Calls& calls, double step) {
  return fault_at_fast(graph, calls, rounds(graph, step));
}

class FuseQuantized : public FuseTrace {
 protected:
  void SetUp() override {
    FuseTrace::SetUp();
    if (!IsSkipped() && !onednn::multiplies_bytes()) GTEST_SKIP() << "products are not exact";
  }
};

TEST_F(FuseQuantized, MultipliesIntegersInConvolutions) {
  const ConvolutionCase cases[] = {
      {.padding = 0},
      {.batch = 2, .in = 3, .out = 24, .size = 17, .kernel = 5, .stride = 2},
      {.in = 24, .out = 24, .groups = 24},
      {.in = 32, .out = 16, .kernel = 1},
      {.in = 16, .out = 32, .stride = 2, .groups = 2},
  };
  const Scheme to{0.09, 5};
  for (const ConvolutionCase& shape : cases) {
    for (const Scheme& from : kSchemes) {
      for (const bool is_per_channel : {false, true}) {
        SCOPED_TRACE(fmt::format("{} to {}, groups {}, zero point {}", shape.in, shape.out,
                                 shape.groups, from.zero_point));
        EagerGraph graph;
        const V x = round_trip(graph, image(graph, shape), from);
        const V w =
            weight(graph, "w", {shape.out, shape.in / shape.groups, shape.kernel, shape.kernel},
                   is_per_channel);
        const V y = aten(graph, "conv2d",
                         {x, w, graph.weight("b", at::randn({shape.out})), pair(shape.stride),
                          pair(shape.padding), pair(shape.dilation), shape.groups});
        graph.output(round_trip(graph, aten(graph, "relu", {y}), to));
        EXPECT_EQ(rounding_fault(graph, {kQuantize, kConvolution, kDequantize}, to.scale), "");
      }
    }
  }
}

TEST_F(FuseQuantized, MultipliesIntegersInLinearLayers) {
  const Scheme to{0.05, 3, at::kByte};
  for (const Scheme& from : kSchemes) {
    for (const int64_t rows : {1, 7, 64}) {
      EagerGraph graph;
      const V x = round_trip(graph, graph.input("x", at::randn({2, rows, 48})), from);
      const V y = aten(graph, "linear",
                       {x, weight(graph, "w", {40, 48}), graph.weight("b", at::randn({40}))});
      graph.output(round_trip(graph, y, to));
      EXPECT_EQ(rounding_fault(graph, {kQuantize, kProduct, kDequantize}, to.scale), "");
    }
  }
}

// Both weights are computed from the same integers, in the run.
TEST_F(FuseQuantized, TellsAWeightFromItsTranspose) {
  EagerGraph graph;
  const V x = round_trip(graph, graph.input("x", at::randn({32, 64})), kSchemes[0]);
  const V w = weight(graph, "w", {64, 64}, false);
  graph.output(aten(graph, "linear", {x, w}));
  graph.output(aten(graph, "linear", {x, aten(graph, "t", {w})}));
  ExecutionOptions options;
  options.optimization = Optimization::kFast;
  options.fold_constants = false;
  const auto outputs = compile(graph.ir, graph.weights, StateDict(), options).run(graph.inputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_TRUE(at::allclose(outputs[i], graph.expected()[i], 1e-4, 1e-4)) << i;
  }
}

// On any processor. The factor has no dimensions.
TEST_F(FuseTrace, ScalesAColumnBesidesIntegers) {
  EagerGraph graph;
  const V x = round_trip(graph, graph.input("x", at::randn({5, 1})), kSchemes[0]);
  const V factor = graph.weight("factor", at::full({}, 2.0));
  const V scaled = aten(graph, "mul.Tensor", {aten(graph, "exp", {x}), factor});
  graph.output(aten(graph, "add.Tensor", {scaled, factor}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseQuantized, ReturnsFloatsWithoutAQuantizeAfterIt) {
  EagerGraph graph;
  const V x = round_trip(graph, image(graph), {0.03, 4});
  const V y = aten(graph, "conv2d", {x, weight(graph, "w", {16, 16, 3, 3}), {}, {}, pair(1)});
  graph.output(y);
  graph.output(aten(graph, "linear", {y, weight(graph, "v", {24, 12})}));
  EXPECT_EQ(calls_at_fast(graph).at(1), kConvolution);
  EXPECT_EQ(difference_at_fast(graph), "");
}

// The library pads with integers.
TEST_F(FuseQuantized, ShiftsByAFractionWithoutPadding) {
  for (const int64_t padding : {0, 1}) {
    EagerGraph graph;
    const V q = quantize(graph, image(graph), {0.03, 4});
    const V shifted = aten(graph, "sub.Tensor", {aten(graph, "to.dtype", {q, at::kFloat}), 4.5});
    const V x = aten(graph, "mul.Tensor", {shifted, 0.03});
    graph.output(
        aten(graph, "conv2d", {x, weight(graph, "w", {16, 16, 3, 3}), {}, {}, pair(padding)}));
    EXPECT_EQ(fault_at_fast(graph, kDequantize, padding), "") << padding;
  }
}

// As a residual block: the first addition is of integers only, the second of a convolution.
TEST_F(FuseQuantized, StaysInIntegersOverAdditions) {
  for (const at::ScalarType dtype : {at::kChar, at::kByte}) {
    const Scheme scheme{0.05, 9, dtype};
    const Scheme to{0.07, 11};
    EagerGraph graph;
    const V x = quantize(graph, image(graph), scheme);
    const auto block = [&](const std::string& name) {
      return aten(graph, "conv2d",
                  {dequantize(graph, x, scheme), weight(graph, name, {16, 16, 3, 3}),
                   graph.weight(name + ".bias", at::randn({16})), pair(1), pair(1)});
    };
    const V first = round_trip(graph, block("a"), to);
    const V sum = aten(graph, "add.Tensor", {first, dequantize(graph, x, scheme)});
    const V kept = quantize(graph, aten(graph, "relu", {sum}), to);
    const V second = aten(graph, "add.Tensor", {block("b"), dequantize(graph, kept, to)});
    graph.call("aten.hardtanh_.default", {second, 0.0, 6.0});
    graph.output(round_trip(graph, second, scheme));
    graph.output(kept);
    EXPECT_EQ(rounding_fault(graph, {kQuantize, kConvolution, kQuantize, kConvolution, kDequantize},
                             0.07),
              "");
  }
}

TEST_F(FuseQuantized, MultipliesIntegersWhoseScaleTheRunComputes) {
  for (const char* activation : {"", "relu", "gelu"}) {
    EagerGraph graph;
    const V x = graph.input("x", at::randn({2, 9, 48}) + 0.3);
    const std::vector<V> chosen =
        graph.call("quantized_decomposed.choose_qparams.tensor", {x, -128, 127, 1e-6, at::kChar});
    const V q = graph.call1("quantized_decomposed.quantize_per_tensor.tensor",
                            {x, chosen[0], chosen[1], -128, 127, at::kChar});
    const V floats = graph.call1("quantized_decomposed.dequantize_per_tensor.tensor",
                                 {q, chosen[0], chosen[1], -128, 127, at::kChar});
    V y = aten(graph, "linear",
               {floats, weight(graph, "w", {40, 48}), graph.weight("b", at::randn({40}))});
    if (*activation != '\0') y = aten(graph, activation, {y});
    graph.output(y);
    graph.output(q);
    // The last copy converts the scale.
    const Calls calls = calls_at_fast(graph);
    EXPECT_EQ(Calls(calls.end() - 4, calls.end()),
              (Calls{kQuantize, "aten::_to_copy", kProduct, "torch_ir::scale_rows"}));
    EXPECT_EQ(difference_at_fast(graph), "") << activation;
  }
}

// As torchao spells it.
TEST_F(FuseQuantized, MultipliesIntegersWithAScaleForEachRow) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({17, 32}));
  const V largest = aten(graph, "amax", {aten(graph, "abs", {x}), Attribute({1}), true});
  const V scale = aten(graph, "div.Tensor", {largest, graph.weight("steps", at::full({}, 127.5))});
  const V scaled = aten(graph, "mul.Tensor", {x, aten(graph, "reciprocal", {scale})});
  const V zero_point = aten(graph, "to.dtype", {aten(graph, "zeros_like", {scale}), at::kChar});
  const V shifted = aten(graph, "add.Tensor", {aten(graph, "round", {scaled}), zero_point});
  const V q = aten(graph, "to.dtype", {aten(graph, "clamp", {shifted, -128, 127}), at::kChar});
  const V w = aten(graph, "t", {graph.weight("w", at::randint(-127, 128, {48, 32}, at::kChar))});
  const V sums = aten(graph, "to.dtype", {aten(graph, "_int_mm", {q, w}), at::kFloat});
  const V rows = aten(graph, "mul.Tensor", {sums, scale});
  const V y = aten(graph, "mul.Tensor", {rows, graph.weight("scales", at::rand({48}) * 0.01)});
  const V sum = aten(graph, "add.Tensor", {y, graph.weight("b", at::randn({48}))});
  graph.output(aten(graph, "relu", {sum}));
  const Calls calls = calls_at_fast(graph);
  EXPECT_EQ(Calls(calls.end() - 3, calls.end()),
            (Calls{kQuantize, kProduct, "torch_ir::scale_rows"}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// A convolution of what is quantized in the last of `schemes`; what is quantized in the first is
// padded.
EagerGraph padded_convolution(const std::vector<Scheme>& schemes, const std::vector<int64_t>& sizes,
                              double value, int64_t groups, bool reads_padded = false) {
  EagerGraph graph;
  const ConvolutionCase shape{.in = 24, .out = 24, .padding = 0, .groups = groups};
  V x = image(graph, shape);
  if (schemes.size() > 1) x = round_trip(graph, x, schemes[0]);
  x = padded(graph, x, sizes, value);
  if (reads_padded) graph.output(x);
  const int64_t channels = graph.value(x).size(1);
  x = round_trip(graph, x, schemes.back());
  const V w = weight(graph, "w", {24, channels / groups, 3, 3});
  const V y = aten(graph, "conv2d",
                   {x, w, graph.weight("b", at::randn({24})), pair(1), pair(groups == 1 ? 1 : 0),
                    pair(1), groups});
  graph.output(round_trip(graph, y, {0.09, 5}));
  return graph;
}

TEST_F(FuseQuantized, PadsIntegersInConvolutions) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{1, 1, 1, 1}, {0, 1, 2, 0}}) {
    for (const Scheme& scheme : kSchemes) {
      for (const int64_t groups : {1, 24}) {
        const EagerGraph first = padded_convolution({scheme}, sizes, 0, groups);
        EXPECT_EQ(rounding_fault(first, {kQuantize, kConvolution, kDequantize}, 0.09), "");
        const EagerGraph later = padded_convolution({{0.02, 3}, scheme}, sizes, 0, groups);
        EXPECT_EQ(rounding_fault(later, {kQuantize, kQuantize, kConvolution, kDequantize}, 0.09),
                  "");
      }
    }
  }
}

// Values other than zero, channels, parts that are cut off, and what is read elsewhere.
TEST_F(FuseQuantized, LeavesOtherPaddings) {
  const EagerGraph graphs[] = {padded_convolution({kSchemes[0]}, {1, 1, 1, 1}, 0.5, 1),
                               padded_convolution({kSchemes[1]}, {1, 1, 1, 1, 8, 0}, 0, 1),
                               padded_convolution({kSchemes[1]}, {-1, 1, 1, 1}, 0, 24),
                               padded_convolution({kSchemes[1]}, {1, 1, 1, 1}, 0, 24, true)};
  for (const EagerGraph& graph : graphs) {
    EXPECT_EQ(fault_at_fast(graph, "aten::constant_pad_nd", 1, rounds(graph, 0.09)), "");
  }
}

// On any processor, also where the value is between two steps.
TEST_F(FuseTrace, PadsWithRoundedValues) {
  for (const Scheme& scheme : kSchemes) {
    for (const double value : {0.0, 0.077, 1e9}) {
      EagerGraph graph;
      const V x = padded(graph, graph.input("x", at::randn({2, 3, 5})), {1, 2}, value);
      graph.output(quantize(graph, x, scheme));
      EXPECT_TRUE(same_bits(fast_plan(graph).run(graph.inputs)[0], graph.expected()[0]));
    }
  }
}

// Not weights of 8 bits, a result that is read twice, and a part of a tensor.
TEST_F(FuseQuantized, LeavesOtherLayersAsTheyAre) {
  EagerGraph graph;
  const Scheme scheme{0.05, 9};
  const V x = round_trip(graph, graph.input("x", at::randn({32, 64})), scheme);
  const V y = aten(graph, "linear", {x, graph.weight("w", at::randn({64, 64}))});
  graph.output(round_trip(graph, y, scheme));
  const V z = aten(graph, "linear", {x, weight(graph, "v", {64, 64})});
  graph.output(z);
  graph.output(round_trip(graph, z, scheme));
  const V part = aten(graph, "narrow", {x, 1, 8, 8});
  graph.output(round_trip(graph, part, scheme));
  EXPECT_EQ(difference_at_fast(graph, rounds(graph, 0.05)), "");
}

// On any processor.
TEST_F(FuseTrace, QuantizesInOnePassWithTheSameBits) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  for (const int64_t size : {1, 15, 256, 1000}) {
    for (const Scheme& scheme : kSchemes) {
      EagerGraph graph;
      at::Tensor values = at::linspace(-9, 9, size);
      values[0] = size == 15 ? std::numeric_limits<float>::quiet_NaN() : kInfinite;
      const V x = graph.input("x", values);
      const V q = quantize(graph, x, scheme);
      const V other = round_trip(graph, graph.input("y", at::randn({size})), kSchemes[0]);
      graph.output(q);
      graph.output(dequantize(graph, q, scheme));
      const V sum = aten(graph, "add.Tensor", {dequantize(graph, q, scheme), other});
      graph.output(quantize(graph, aten(graph, "relu", {sum}), kSchemes[2]));
      EXPECT_EQ(fault_without_aten(graph), "");
      const std::vector<at::Tensor> outputs = fast_plan(graph).run(graph.inputs);
      for (size_t i = 0; i < outputs.size(); ++i) {
        EXPECT_TRUE(same_bits(outputs[i], graph.expected()[i])) << size << ' ' << i;
      }
    }
  }
}

TEST_F(FuseTrace, AppliesActivationsBeforeItQuantizes) {
  for (const char* activation : {"gelu", "silu", "hardswish"}) {
    EagerGraph graph;
    const V x = round_trip(graph, graph.input("x", at::randn({33, 31})), kSchemes[0]);
    const V y = aten(graph, activation, {x});
    graph.output(round_trip(graph, y, kSchemes[1]));
    EXPECT_EQ(rounding_fault(graph, {kQuantize, kQuantize, kDequantize}, kSchemes[1].scale), "");
  }
}

TEST(IntegerWeight, FindsIntegers) {
  for (const int64_t most : {127, 100, 7, 1}) {
    const at::Tensor integers = at::randint(-most, most + 1, {6, 90}, at::kChar);
    integers[2].fill_(0);
    const at::Tensor scales = at::rand({6, 1}) + 1e-3;
    const at::Tensor weight = integers * scales;
    const auto found = integer_weight(weight);
    ASSERT_TRUE(found);
    for (int64_t i = 0; i < 6; ++i) {
      EXPECT_EQ(found->sums[i], found->values[i].sum().item<int64_t>());
      EXPECT_TRUE(at::allclose(found->values[i] * found->scales[i], weight[i], 1e-6, 0));
    }
  }
}

TEST(IntegerWeight, RefusesOtherWeights) {
  EXPECT_FALSE(integer_weight(at::randn({4, 50})));
  // 256 steps.
  EXPECT_FALSE(integer_weight(at::linspace(-1, 1, 256).view({1, 256})));
  EXPECT_FALSE(integer_weight(at::full({2, 3}, std::numeric_limits<double>::quiet_NaN())));
}

}  // namespace
}  // namespace torch_ir
