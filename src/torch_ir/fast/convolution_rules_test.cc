// Convolutions at level `fast`, with the norms, additions, activations and padding around them,
// against LibTorch's.

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "torch_ir/fast/testing/fuse_trace_fixture.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

using testing::AnyOf;
using testing::Each;
using testing::Not;
using testing::StartsWith;

TEST_F(FuseTrace, MakesPrimitivesOfConvolutions) {
  const ConvolutionCase cases[] = {
      {},
      {.batch = 3},
      {.in = 3, .out = 8, .size = 17, .kernel = 5, .stride = 2},
      {.in = 5, .out = 7, .size = 9},
      {.size = 1, .kernel = 1},
      {.in = 24, .out = 40, .kernel = 1},
      // Of one pixel, with more weights than a cache keeps.
      {.batch = 2, .in = 512, .out = 1024, .size = 1},
      {.in = 512, .out = 1024, .size = 1, .kernel = 1, .stride = 3},
      {.in = 512, .out = 1024, .size = 1, .kernel = 2, .stride = 2, .padding = 3, .dilation = 3},
      {.in = 24, .out = 24, .groups = 24},
      {.in = 12, .out = 24, .stride = 2, .groups = 12},
      {.in = 32, .out = 16, .groups = 4},
      {.padding = 2, .dilation = 2},
      // Only one, two or three taps of each dimension meet the image.
      {.in = 16, .out = 16, .size = 8, .padding = 12, .dilation = 12, .groups = 16},
      {.size = 16, .stride = 2, .padding = 16, .dilation = 16},
      {.size = 10, .padding = 4, .dilation = 8},
      {.size = 10, .kernel = 5, .padding = 12, .dilation = 6},
      {.in = 64, .out = 64, .size = 7},
      {.in = 17, .out = 33, .size = 5},
  };
  for (const ConvolutionCase& shape : cases) {
    for (const bool has_bias : {true, false}) {
      SCOPED_TRACE(fmt::format("{} to {}, size {}, kernel {}, groups {}", shape.in, shape.out,
                               shape.size, shape.kernel, shape.groups));
      EagerGraph graph;
      graph.output(convolution(graph, image(graph, shape), "conv", shape, has_bias));
      EXPECT_EQ(difference_at_fast(graph), "");
    }
  }
}

// With one thread, LibTorch computes small 1x1 convolutions group by group.
TEST_F(FuseTrace, MakesOnePrimitiveOfAllGroups) {
  at::set_num_threads(1);
  for (const bool has_bias : {true, false}) {
    for (const int64_t groups : {2, 24}) {
      const ConvolutionCase shape{.in = 24, .out = 48, .kernel = 1, .groups = groups};
      EagerGraph graph;
      const V made = convolution(graph, image(graph, shape), "conv", shape, has_bias);
      graph.output(aten(graph, "relu", {batch_norm(graph, made, "norm", 48)}));
      EXPECT_EQ(fault_at_fast(graph, Calls{kConvolution}), "");
    }
  }
}

TEST_F(FuseTrace, TakesNormAdditionAndActivationIntoTheConvolution) {
  for (const bool is_winograd : {false, true}) {
    const ConvolutionCase shape{.in = 48, .out = 48, .kernel = is_winograd ? 3 : 5};
    EagerGraph graph;
    const V x = image(graph, shape);
    const V first = aten(graph, "relu", {convolution(graph, x, "a", shape)});
    const V second = convolution(graph, first, "b", shape);
    const V norm = batch_norm(graph, convolution(graph, second, "c", shape, false), "norm", 48);
    const V sum = aten(graph, "add.Tensor", {norm, first});
    graph.output(aten(graph, "relu", {sum}));
    const std::string name = is_winograd ? winograd() : kConvolution;
    EXPECT_EQ(fault_at_fast(graph, Calls(3, name)), "");
  }
}

TEST_F(FuseTrace, KnowsActivations) {
  for (const char* activation : {"relu", "sigmoid", "tanh", "silu", "hardswish", "gelu",
                                 "leaky_relu", "relu6", "hardtanh"}) {
    for (const int64_t kernel : {1, 3}) {
      EagerGraph graph;
      const ConvolutionCase shape{.kernel = kernel};
      const V y = convolution(graph, image(graph), "conv", shape);
      graph.output(aten(graph, activation, {y}));
      EXPECT_EQ(fault_without_aten(graph), "") << activation;
    }
  }
}

// The second activation reads the first one's results, also for negative numbers.
TEST_F(FuseTrace, AppliesActivationsOneAfterTheOther) {
  for (const char* first : {"relu", "hardtanh", "leaky_relu", "sigmoid", "hardswish", "tanh"}) {
    for (const char* second : {"relu", "relu6", "leaky_relu", "hardsigmoid", "gelu", "tanh"}) {
      for (const bool is_winograd : {false, true}) {
        EagerGraph graph;
        const ConvolutionCase shape{.in = 16, .out = 48, .kernel = is_winograd ? 3 : 1};
        V y = convolution(graph, image(graph, shape), "conv", shape);
        y = aten(graph, first, {y});
        y = aten(graph, second, {y});
        graph.output(y);
        EXPECT_EQ(difference_at_fast(graph), "") << first << ", " << second << ", " << is_winograd;
      }
    }
  }
}

// A learned scale and shift of one element, as after the activations of HGNetV2.
TEST_F(FuseTrace, ScalesAndShiftsByOneNumber) {
  for (const int64_t kernel : {1, 3}) {
    EagerGraph graph;
    const ConvolutionCase shape{.kernel = kernel};
    V y = image(graph);
    for (const char* name : {"a", "b"}) {
      y = aten(graph, "relu", {convolution(graph, y, name, shape)});
      const V scale = graph.weight(fmt::format("{}.scale", name), at::full({1}, 0.7));
      y = aten(graph, "mul.Tensor", {scale, y});
      y = aten(graph, "mul.Tensor", {y, 1.5});
      y = aten(graph, "add.Tensor",
               {y, graph.weight(fmt::format("{}.shift", name), at::full({1}, -0.4))});
    }
    graph.output(y);
    EXPECT_EQ(fault_without_aten(graph), "");
  }
}

// After Winograd's algorithm our own kernel shifts, in blocks of channels that are not full.
TEST_F(FuseTrace, ShiftsChannelsThatDoNotFillTheirBlocks) {
  const ConvolutionCase shape{.in = 50, .out = 50};
  EagerGraph graph;
  const V first = convolution(graph, image(graph, shape), "a", shape);
  const V shifted = aten(graph, "add.Tensor", {first, 3.0});
  graph.output(convolution(graph, shifted, "b", shape));
  EXPECT_EQ(fault_without_aten(graph), "");
}

// A layer scale folds into the convolution before it; alone, it keeps the layout, as do differences
// and sums with 0, which Python's `sum` begins with.
TEST_F(FuseTrace, ScalesByChannel) {
  EagerGraph graph;
  const ConvolutionCase shape{.kernel = 1};
  const auto scale = [&](const V& x, const std::string& name, at::IntArrayRef sizes) {
    return aten(graph, "mul.Tensor", {x, graph.weight(name, at::randn(sizes))});
  };
  const V x = convolution(graph, image(graph), "a", shape);
  const V y = scale(convolution(graph, x, "b", shape), "gamma", {16, 1, 1});
  const V norm = aten(graph, "add.Tensor", {batch_norm(graph, x, "norm"), 0});
  const V difference = scale(aten(graph, "sub.Tensor", {norm, y}), "delta", {1, 16, 1, 1});
  const V sum = aten(graph, "add.Tensor", {x, difference});
  const V shifted = aten(graph, "add.Tensor", {graph.weight("shift", at::randn({16, 1, 1})), sum});
  graph.output(convolution(graph, shifted, "c", shape));
  Calls calls(7, kConvolution);
  calls[3] = "onednn::binary";
  EXPECT_EQ(fault_at_fast(graph, calls), "");
}

// The norm stays where the sum cannot overwrite its addend.
TEST_F(FuseTrace, AddsToANormWhatItReads) {
  EagerGraph graph;
  const V x = pointwise(graph, image(graph), "a");
  graph.output(aten(graph, "add.Tensor", {batch_norm(graph, x, "norm"), x}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// After the batch is squeezed away, the constant has a number for each row, not for each channel;
// after the view, the norm has one channel.
TEST_F(FuseTrace, LeavesScalesAndNormsOfOtherDimensions) {
  for (const bool is_norm : {false, true}) {
    EagerGraph graph;
    const V y = convolution(graph, image(graph, {.size = 16}), "a", {.size = 16}, !is_norm);
    if (is_norm) {
      graph.output(batch_norm(graph, view(graph, y, {16, 1, 16, 16}), "norm", 1));
    } else {
      const V rows = graph.weight("rows", at::randn({16, 1}));
      graph.output(aten(graph, "mul.Tensor", {aten(graph, "squeeze.dim", {y, 0}), rows}));
    }
    EXPECT_EQ(difference_at_fast(graph), "") << is_norm;
  }
}

// As a U-Net does. Windows that overlap, leave gaps or are in groups stay LibTorch's; with oneDNN 2
// on processors without AVX-512 all do.
TEST_F(FuseTrace, MakesPrimitivesOfTransposedConvolutions) {
  struct Case {
    int64_t batch = 1;
    int64_t in = 16;
    int64_t out = 8;
    int64_t kernel = 2;
    int64_t stride = 2;
    int64_t output_padding = 0;
    int64_t groups = 1;
    bool has_norm = true;
  };
  for (const Case& shape : {Case{}, Case{.batch = 2, .out = 24}, Case{.kernel = 3, .stride = 3},
                            Case{.in = 5, .out = 3, .has_norm = false}, Case{.kernel = 3},
                            Case{.output_padding = 1}, Case{.groups = 2}}) {
    for (const bool is_carried : {true, false}) {
      EagerGraph graph;
      const ConvolutionCase first{
          .batch = shape.batch, .in = shape.in, .out = shape.in, .kernel = 1};
      V x = image(graph, first);
      if (is_carried) x = convolution(graph, x, "a", first);
      const at::Tensor weight =
          at::randn({shape.in, shape.out / shape.groups, shape.kernel, shape.kernel}) / 8;
      const V y = aten(graph, "conv_transpose2d.input",
                       {x, graph.weight("w", weight), graph.weight("b", at::randn({shape.out})),
                        pair(shape.stride), pair(0), pair(shape.output_padding), shape.groups});
      const V z = shape.has_norm ? batch_norm(graph, y, "norm", shape.out) : y;
      graph.output(aten(graph, "relu", {z}));
      const bool is_apart = (has_avx512() || !has_onednn_2()) && shape.kernel == shape.stride &&
                            shape.output_padding == 0 && shape.groups == 1;
      EXPECT_EQ(calls_at_fast(graph) == Calls(is_carried ? 2 : 1, kConvolution), is_apart);
      EXPECT_EQ(difference_at_fast(graph), "") << shape.kernel << ", " << shape.out;
    }
  }
}

constexpr const char* kPadding = "aten::constant_pad_nd";

// Swaps rows and channels.
V turned(EagerGraph& graph, const V& x) { return aten(graph, "transpose.int", {x, 1, 2}); }

// Models that come from TensorFlow pad so: by nothing, alike, or more on one side.
TEST_F(FuseTrace, FoldsZeroPaddingIntoConvolutions) {
  for (const std::vector<int64_t>& padding : std::vector<std::vector<int64_t>>{
           {0, 0, 0, 0}, {1, 1, 1, 1}, {0, 1, 0, 1}, {3, 1, 0, 2}, {1, 2}, {0, 1, 0, 1, 0, 0}}) {
    for (const ConvolutionCase& shape :
         {ConvolutionCase{.kernel = 5, .padding = 0},
          ConvolutionCase{.kernel = 5, .stride = 2, .padding = 1, .groups = 16}}) {
      EagerGraph graph;
      const V x = pointwise(graph, image(graph), "a");
      const V y = convolution(graph, padded(graph, x, padding), "b", shape);
      graph.output(aten(graph, "relu6", {y}));
      EXPECT_EQ(fault_at_fast(graph, Calls(2, kConvolution)), "")
          << testing::PrintToString(padding);
    }
  }
}

// As in blocks of tokens with depthwise convolutions, and patches that layer norms read. With one
// thread LibTorch copies small images to convolve them.
TEST_F(FuseTrace, ConvolvesRowsOfPixels) {
  for (const auto& [threads, batch, groups] :
       {std::tuple{1, 1, 24}, {1, 2, 24}, {1, 1, 1}, {2, 1, 24}, {2, 2, 24}, {2, 2, 1}}) {
    SCOPED_TRACE(fmt::format("{} threads, batch {}, {} groups", threads, batch, groups));
    at::set_num_threads(threads);
    const ConvolutionCase shape{.batch = batch, .in = 24, .out = 24, .size = 6, .groups = groups};
    EagerGraph graph;
    const V tokens = graph.input("tokens", at::randn({batch, 36, 40}));
    const auto linear = [&](const V& x, const char* name, at::IntArrayRef sizes) {
      return aten(graph, "linear", {x, graph.weight(name, at::randn(sizes) / 6)});
    };
    const V x = view(graph, turned(graph, linear(tokens, "v", {24, 40})), {batch, 24, 6, 6});
    const V y = convolution(graph, x, "conv", shape);
    const V rows = turned(graph, aten(graph, "flatten.using_ints", {y, 2}));
    graph.output(linear(aten(graph, "gelu", {rows}), "w", {40, 24}));
    const Calls calls = calls_at_fast(graph);
    EXPECT_THAT(calls, Each(Not(AnyOf("aten::clone", "aten::gelu"))));
    EXPECT_TRUE(groups == 1 || std::ranges::count(calls, "onednn::reorder") == 0);
    EXPECT_EQ(difference_at_fast(graph), "");
  }
}

// Also values that no call reads, such as rows turned back into channels.
TEST_F(FuseTrace, KeepsTheValuesOfRowsOfPixels) {
  EagerGraph graph;
  const ConvolutionCase shape{.in = 24, .out = 24, .size = 6, .groups = 24};
  const V y = convolution(graph, image(graph, shape), "conv", shape);
  const V rows = turned(graph, aten(graph, "flatten.using_ints", {y, 2}));
  const V channels = turned(graph, aten(graph, "gelu", {rows}));
  graph.output(aten(graph, "layer_norm", {turned(graph, channels), Attribute::list({24})}));
  ExecutionOptions options;
  options.optimization = Optimization::kFast;
  options.keeps_values = true;
  const ExecutionPlan plan = compile(graph.ir, graph.weights, StateDict(), options);
  for (int round = 0; round < 2; ++round) {
    std::map<std::string, at::Tensor> values;
    plan.observe(graph.inputs, [&](const std::string& name, const at::Tensor& value) {
      values[name] = value.defined() ? value.clone() : value;
    });
    for (const auto& [name, value] : values) {
      EXPECT_TRUE(!value.defined() || at::allclose(value, graph.value({name}), 1e-4, 1e-4)) << name;
    }
    EXPECT_GT(values.size(), 2u);
  }
}

// With more weights than a cache keeps, they are products, unless they have more pixels or the
// pixel is a part of an image.
TEST_F(FuseTrace, ConvolvesOnePixel) {
  const auto difference = [](at::IntArrayRef sizes, const auto& change) {
    EagerGraph graph;
    const V x = change(graph, graph.input("x", at::randn(sizes)));
    const ConvolutionCase shape{.in = 512, .out = 1024, .kernel = 1};
    graph.output(convolution(graph, x, "conv", shape));
    return difference_at_fast(graph);
  };
  const auto first_pixel = [](EagerGraph& graph, const V& x) {
    const V row = aten(graph, "slice.Tensor", {x, 2, 0, 1});
    return aten(graph, "slice.Tensor", {row, 3, 0, 1});
  };
  EXPECT_EQ(difference({1, 512, 3, 3}, first_pixel), "");
  const auto some_channels = [](EagerGraph& graph, const V& x) {
    return aten(graph, "slice.Tensor", {x, 1, 0, 512});
  };
  EXPECT_EQ(difference({2, 600, 1, 1}, some_channels), "");
  const auto repeated = [](EagerGraph& graph, const V& x) {
    return aten(graph, "expand", {x, Attribute::list({2, -1, -1, -1})});
  };
  EXPECT_EQ(difference({1, 512, 1, 1}, repeated), "");
  const auto with_more = [](EagerGraph& graph, const V& x) {
    return padded(graph, x, {0, 1, 0, 1});
  };
  EXPECT_EQ(difference({1, 512, 1, 1}, with_more), "");
}

// As many rows as channels: a scale of one must not be taken for a scale of the other.
TEST_F(FuseTrace, LeavesScalesOfRowsOfPixels) {
  const ConvolutionCase shape{.in = 9, .out = 9, .size = 3, .groups = 9};
  EagerGraph graph;
  const V x = view(graph, turned(graph, graph.input("x", at::randn({2, 9, 9}))), {2, 9, 3, 3});
  const V y = aten(graph, "flatten.using_ints", {convolution(graph, x, "conv", shape), 2});
  const V scale = graph.weight("scale", at::randn({9, 1}));
  graph.output(aten(graph, "mul.Tensor", {turned(graph, y), scale}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, KeepsPaddingThatIsNotOfTheConvolution) {
  const ConvolutionCase shape{.kernel = 5, .padding = 0};
  const auto fault = [&](EagerGraph& graph, const V& x) {
    graph.output(convolution(graph, x, "a", shape));
    return fault_at_fast(graph, kPadding, 1);
  };
  EagerGraph ones;
  EXPECT_EQ(fault(ones, padded(ones, image(ones), {1, 1, 1, 1}, 1)), "");
  EagerGraph cut;
  EXPECT_EQ(fault(cut, padded(cut, image(cut), {1, 1, -1, 1})), "");
  EagerGraph more;
  EXPECT_EQ(fault(more, padded(more, image(more, {.in = 15}), {1, 1, 1, 1, 0, 1})), "");
  EagerGraph read;
  const V both = padded(read, image(read), {1, 1, 1, 1});
  read.output(aten(read, "cos", {both}));
  EXPECT_EQ(fault(read, both), "");
}

// Folded zeros count, in an average and in a maximum; a pooling's own padding does not.
TEST_F(FuseTrace, FoldsPaddingIntoPoolingWhereItIsRight) {
  for (const bool counts_padding : {true, false}) {
    for (const int64_t own : {0, 1}) {
      EagerGraph graph;
      const V x = pointwise(graph, image(graph), "a");
      graph.output(aten(
          graph, "avg_pool2d",
          {padded(graph, x, {0, 1, 1, 0}), pair(4), pair(2), pair(own), false, counts_padding}));
      EXPECT_EQ(fault_at_fast(graph, kPadding, own == 1 && !counts_padding), "") << own;
    }
  }
  constexpr double kLeast = -std::numeric_limits<double>::infinity();
  for (const bool is_positive : {true, false}) {
    for (const double value : {0.0, 0.5, kLeast}) {
      EagerGraph graph;
      V x = pointwise(graph, image(graph), "a");
      if (is_positive) x = aten(graph, "relu", {x});
      graph.output(aten(graph, "max_pool2d",
                        {padded(graph, x, {0, 1, 0, 1}, value), pair(3), pair(2), pair(1)}));
      EXPECT_EQ(fault_at_fast(graph, kPadding, 0), "") << is_positive << ", " << value;
    }
  }
}

// Weights are packed with the norm after them, down to the last digit of its epsilon.
TEST_F(FuseTrace, PacksOneWeightForSeveralNorms) {
  EagerGraph graph;
  const V x = image(graph);
  const V weight = graph.weight("weight", at::randn({48, 16, 3, 3}) / 12000.0);
  const V mean = graph.weight("mean", at::randn({48}) / 1000.0);
  const V variance = graph.weight("variance", at::rand({48}) / 1e6);
  for (const double epsilon : {1e-5, 0.5, 1e-7, 4e-7}) {
    const V y = aten(graph, "conv2d", {x, weight, std::monostate(), pair(1), pair(1)});
    graph.output(graph.call(
        "aten.native_batch_norm.default",
        {y, std::monostate(), std::monostate(), mean, variance, false, 0.1, epsilon})[0]);
  }
  EXPECT_EQ(fault_at_fast(graph, Calls(4, winograd())), "");
}

// As BiT's ResNet does. One weight has more than 16 MB.
TEST_F(FuseTrace, FoldsStandardizedWeights) {
  for (const int64_t out : {16, 4096}) {
    EagerGraph graph;
    const ConvolutionCase shape{.in = 1050, .size = 2, .kernel = 1};
    const V weight = graph.weight("w", at::randn({out, 1050, 1, 1}));
    const V rows = view(graph, weight, {1, out, 1050});
    const V standard = aten(graph, "batch_norm", {rows, {}, {}, {}, {}, true, 0.0, 1e-6, false});
    const V scaled = view(graph, standard, {out, 1050, 1, 1});
    graph.output(aten(graph, "conv2d", {image(graph, shape), scaled}));
    EXPECT_EQ(calls_at_fast(graph), Calls{kConvolution});
    EXPECT_EQ(out == 16 ? difference_at_fast(graph) : "", "");
  }
}

TEST_F(FuseTrace, TakesActivationsOfOneDimension) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({1, 20, 50}));
  const auto convolve = [&](const V& value, const at::Tensor& weight, const EagerArgument& bias) {
    const V w = graph.weight(fmt::format("w{}", weight.size(1)), weight / 8);
    return aten(graph, "conv1d", {value, w, bias, Attribute::list({1}), Attribute::list({1})});
  };
  const V y = convolve(x, at::randn({32, 20, 3}), graph.weight("b", at::randn({32})));
  const V z = aten(graph, "gelu", {y});
  const V w = convolve(z, at::randn({32, 32, 3}), {});
  graph.output(aten(graph, "add.Tensor", {w, z}));
  graph.output(aten(graph, "transpose.int", {z, 1, 2}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

}  // namespace
}  // namespace torch_ir
