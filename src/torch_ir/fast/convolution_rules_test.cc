// Convolutions at level `fast`, with the norms, additions, activations and padding around them,
// against LibTorch's.

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
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
      {.in = 3, .out = 8, .size = 17, .kernel = 5, .stride = 2, .padding = 2},
      {.in = 5, .out = 7, .size = 9},
      {.size = 1, .kernel = 1, .padding = 0},
      {.in = 24, .out = 40, .kernel = 1, .padding = 0},
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
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  for (const bool has_bias : {true, false}) {
    for (const int64_t groups : {2, 24}) {
      const ConvolutionCase shape{.in = 24, .out = 48, .kernel = 1, .padding = 0, .groups = groups};
      EagerGraph graph;
      const V made = convolution(graph, image(graph, shape), "conv", shape, has_bias);
      graph.output(graph.call1("aten.relu.default", {batch_norm(graph, made, "norm", 48)}));
      EXPECT_EQ(calls_at_fast(graph), Calls{"onednn::convolution"}) << groups;
      EXPECT_EQ(difference_at_fast(graph), "");
    }
  }
  at::set_num_threads(threads);
}

TEST_F(FuseTrace, TakesNormAdditionAndActivationIntoTheConvolution) {
  for (const bool is_winograd : {false, true}) {
    const ConvolutionCase shape{
        .in = 48, .out = 48, .kernel = is_winograd ? 3 : 5, .padding = is_winograd ? 1 : 2};
    EagerGraph graph;
    const V x = image(graph, shape);
    const V first = graph.call1("aten.relu.default", {convolution(graph, x, "a", shape)});
    const V second = convolution(graph, first, "b", shape);
    const V norm = batch_norm(graph, convolution(graph, second, "c", shape, false), "norm", 48);
    const V sum = graph.call1("aten.add.Tensor", {norm, first});
    graph.output(graph.call1("aten.relu.default", {sum}));
    const std::string name = is_winograd ? winograd() : "onednn::convolution";
    EXPECT_EQ(calls_at_fast(graph), Calls(3, name));
    EXPECT_EQ(difference_at_fast(graph), "");
  }
}

TEST_F(FuseTrace, KnowsActivations) {
  for (const char* activation : {"relu", "sigmoid", "tanh", "silu", "hardswish", "gelu",
                                 "leaky_relu", "relu6", "hardtanh"}) {
    for (const int64_t kernel : {1, 3}) {
      EagerGraph graph;
      const ConvolutionCase shape{.kernel = kernel, .padding = kernel / 2};
      const V y = convolution(graph, image(graph), "conv", shape);
      graph.output(graph.call1(fmt::format("aten.{}.default", activation), {y}));
      EXPECT_THAT(calls_at_fast(graph), Each(Not(StartsWith("aten::"))));
      EXPECT_EQ(difference_at_fast(graph), "") << activation;
    }
  }
}

// The second activation reads the first one's results, also for negative numbers.
TEST_F(FuseTrace, AppliesActivationsOneAfterTheOther) {
  for (const char* first : {"relu", "hardtanh", "leaky_relu", "sigmoid", "hardswish", "tanh"}) {
    for (const char* second : {"relu", "relu6", "leaky_relu", "hardsigmoid", "gelu", "tanh"}) {
      for (const bool is_winograd : {false, true}) {
        EagerGraph graph;
        const ConvolutionCase shape{
            .in = 16, .out = 48, .kernel = is_winograd ? 3 : 1, .padding = is_winograd ? 1 : 0};
        V y = convolution(graph, image(graph, shape), "conv", shape);
        y = graph.call1(fmt::format("aten.{}.default", first), {y});
        y = graph.call1(fmt::format("aten.{}.default", second), {y});
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
    const ConvolutionCase shape{.kernel = kernel, .padding = kernel / 2};
    V y = image(graph);
    for (const char* name : {"a", "b"}) {
      y = graph.call1("aten.relu.default", {convolution(graph, y, name, shape)});
      const V scale = graph.weight(fmt::format("{}.scale", name), at::full({1}, 0.7));
      y = graph.call1("aten.mul.Tensor", {scale, y});
      y = graph.call1("aten.mul.Tensor", {y, 1.5});
      y = graph.call1("aten.add.Tensor",
                      {y, graph.weight(fmt::format("{}.shift", name), at::full({1}, -0.4))});
    }
    graph.output(y);
    EXPECT_THAT(calls_at_fast(graph), Each(Not(StartsWith("aten::"))));
    EXPECT_EQ(difference_at_fast(graph), "");
  }
}

// After Winograd's algorithm our own kernel shifts, in blocks of channels that are not full.
TEST_F(FuseTrace, ShiftsChannelsThatDoNotFillTheirBlocks) {
  const ConvolutionCase shape{.in = 50, .out = 50};
  EagerGraph graph;
  const V first = convolution(graph, image(graph, shape), "a", shape);
  const V shifted = graph.call1("aten.add.Tensor", {first, 3.0});
  graph.output(convolution(graph, shifted, "b", shape));
  EXPECT_THAT(calls_at_fast(graph), Each(Not(StartsWith("aten::"))));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// A layer scale folds into the convolution before it; alone, it keeps the layout, as do differences
// and sums with 0, which Python's `sum` begins with.
TEST_F(FuseTrace, ScalesByChannel) {
  EagerGraph graph;
  const ConvolutionCase shape{.kernel = 1, .padding = 0};
  const auto scale = [&](const V& x, const std::string& name, at::IntArrayRef sizes) {
    return graph.call1("aten.mul.Tensor", {x, graph.weight(name, at::randn(sizes))});
  };
  const V x = convolution(graph, image(graph), "a", shape);
  const V y = scale(convolution(graph, x, "b", shape), "gamma", {16, 1, 1});
  const V norm = graph.call1("aten.add.Tensor", {batch_norm(graph, x, "norm"), 0});
  const V difference = scale(graph.call1("aten.sub.Tensor", {norm, y}), "delta", {1, 16, 1, 1});
  const V sum = graph.call1("aten.add.Tensor", {x, difference});
  const V shifted =
      graph.call1("aten.add.Tensor", {graph.weight("shift", at::randn({16, 1, 1})), sum});
  graph.output(convolution(graph, shifted, "c", shape));
  EXPECT_EQ(
      calls_at_fast(graph),
      (Calls{"onednn::convolution", "onednn::convolution", "onednn::convolution", "onednn::binary",
             "onednn::convolution", "onednn::convolution", "onednn::convolution"}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// After the batch is squeezed away, the constant has a number for each row, not for each channel;
// after the view, the norm has one channel.
TEST_F(FuseTrace, LeavesScalesAndNormsOfOtherDimensions) {
  for (const bool is_norm : {false, true}) {
    EagerGraph graph;
    const V y = convolution(graph, image(graph, {.size = 16}), "a", {.size = 16}, !is_norm);
    if (is_norm) {
      const V view = graph.call1("aten.view.default", {y, Attribute::list({16, 1, 16, 16})});
      graph.output(batch_norm(graph, view, "norm", 1));
    } else {
      const V squeezed = graph.call1("aten.squeeze.dim", {y, 0});
      const V rows = graph.weight("rows", at::randn({16, 1}));
      graph.output(graph.call1("aten.mul.Tensor", {squeezed, rows}));
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
          .batch = shape.batch, .in = shape.in, .out = shape.in, .kernel = 1, .padding = 0};
      V x = image(graph, first);
      if (is_carried) x = convolution(graph, x, "a", first);
      const V y = graph.call1("aten.conv_transpose2d.input",
                              {x,
                               graph.weight("w", at::randn({shape.in, shape.out / shape.groups,
                                                            shape.kernel, shape.kernel}) /
                                                     8),
                               graph.weight("b", at::randn({shape.out})), pair(shape.stride),
                               pair(0), pair(shape.output_padding), shape.groups});
      const V z = shape.has_norm ? batch_norm(graph, y, "norm", shape.out) : y;
      graph.output(graph.call1("aten.relu.default", {z}));
      const bool is_apart = (has_avx512() || !has_onednn_2()) && shape.kernel == shape.stride &&
                            shape.output_padding == 0 && shape.groups == 1;
      EXPECT_EQ(calls_at_fast(graph) == Calls(is_carried ? 2 : 1, "onednn::convolution"), is_apart);
      EXPECT_EQ(difference_at_fast(graph), "") << shape.kernel << ", " << shape.out;
    }
  }
}

V padded(EagerGraph& graph, const V& x, const std::vector<int64_t>& padding, double value = 0) {
  return graph.call1("aten.pad.default", {x, Attribute::list(padding), "constant", value});
}

bool has_padding(const EagerGraph& graph) {
  return std::ranges::count(calls_at_fast(graph), "aten::constant_pad_nd") > 0;
}

// Models that come from TensorFlow pad so: by nothing, alike, or more on one side.
TEST_F(FuseTrace, FoldsZeroPaddingIntoConvolutions) {
  for (const std::vector<int64_t>& padding : std::vector<std::vector<int64_t>>{
           {0, 0, 0, 0}, {1, 1, 1, 1}, {0, 1, 0, 1}, {3, 1, 0, 2}, {1, 2}, {0, 1, 0, 1, 0, 0}}) {
    for (const ConvolutionCase& shape :
         {ConvolutionCase{.kernel = 5, .padding = 0},
          ConvolutionCase{.kernel = 5, .stride = 2, .padding = 1, .groups = 16}}) {
      EagerGraph graph;
      const V x = convolution(graph, image(graph), "a", {.kernel = 1, .padding = 0});
      const V y = convolution(graph, padded(graph, x, padding), "b", shape);
      graph.output(graph.call1("aten.relu6.default", {y}));
      EXPECT_EQ(calls_at_fast(graph), Calls(2, "onednn::convolution"));
      EXPECT_EQ(difference_at_fast(graph), "") << testing::PrintToString(padding);
    }
  }
}

// As in blocks of tokens with depthwise convolutions, and patches that layer norms read. With one
// thread LibTorch copies small images to convolve them.
TEST_F(FuseTrace, ConvolvesRowsOfPixels) {
  const int all_threads = at::get_num_threads();
  for (const auto& [threads, batch, groups] :
       {std::tuple{1, 1, 24}, {1, 2, 24}, {1, 1, 1}, {2, 1, 24}, {2, 2, 24}, {2, 2, 1}}) {
    SCOPED_TRACE(fmt::format("{} threads, batch {}, {} groups", threads, batch, groups));
    at::set_num_threads(threads);
    const ConvolutionCase shape{.batch = batch, .in = 24, .out = 24, .size = 6, .groups = groups};
    EagerGraph graph;
    const V tokens = graph.input("tokens", at::randn({batch, 36, 40}));
    const auto linear = [&](const V& x, const char* name, at::IntArrayRef sizes) {
      return graph.call1("aten.linear.default", {x, graph.weight(name, at::randn(sizes) / 6)});
    };
    const auto turned = [&](const V& x) { return graph.call1("aten.transpose.int", {x, 1, 2}); };
    const V x = graph.call1("aten.view.default", {turned(linear(tokens, "v", {24, 40})),
                                                  Attribute::list({batch, 24, 6, 6})});
    const V y = convolution(graph, x, "conv", shape);
    const V rows = turned(graph.call1("aten.flatten.using_ints", {y, 2}));
    graph.output(linear(graph.call1("aten.gelu.default", {rows}), "w", {40, 24}));
    const Calls calls = calls_at_fast(graph);
    EXPECT_THAT(calls, Each(Not(AnyOf("aten::clone", "aten::gelu"))));
    EXPECT_TRUE(groups == 1 || std::ranges::count(calls, "onednn::reorder") == 0);
    EXPECT_EQ(difference_at_fast(graph), "");
  }
  at::set_num_threads(all_threads);
}

// Also values that no call reads, such as rows turned back into channels.
TEST_F(FuseTrace, KeepsTheValuesOfRowsOfPixels) {
  EagerGraph graph;
  const auto turned = [&](const V& x) { return graph.call1("aten.transpose.int", {x, 1, 2}); };
  const V y = convolution(graph, image(graph, {.in = 24, .size = 6}), "conv",
                          {.in = 24, .out = 24, .groups = 24});
  const V rows = turned(graph.call1("aten.flatten.using_ints", {y, 2}));
  const V channels = turned(graph.call1("aten.gelu.default", {rows}));
  graph.output(graph.call1("aten.layer_norm.default", {turned(channels), Attribute::list({24})}));
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
  const ConvolutionCase shape{.in = 512, .out = 1024, .kernel = 1, .padding = 0};
  const auto sliced = [](EagerGraph& graph, V x, std::vector<int64_t> dims) {
    for (const int64_t dim : dims) {
      x = graph.call1("aten.slice.Tensor", {x, dim, 0, dim == 1 ? 512 : 1});
    }
    return x;
  };
  const std::function<V(EagerGraph&)> sources[] = {
      [&](EagerGraph& graph) {
        return sliced(graph, graph.input("x", at::randn({1, 512, 3, 3})), {2, 3});
      },
      [&](EagerGraph& graph) {
        return sliced(graph, graph.input("x", at::randn({2, 600, 1, 1})), {1});
      },
      [](EagerGraph& graph) {
        return graph.call1("aten.expand.default", {graph.input("x", at::randn({1, 512, 1, 1})),
                                                   Attribute::list({2, -1, -1, -1})});
      },
      [](EagerGraph& graph) {
        return graph.call1(
            "aten.constant_pad_nd.default",
            {graph.input("x", at::randn({1, 512, 1, 1})), Attribute::list({0, 1, 0, 1})});
      }};
  for (const auto& source : sources) {
    EagerGraph graph;
    graph.output(convolution(graph, source(graph), "conv", shape));
    EXPECT_EQ(difference_at_fast(graph), "");
  }
}

// As in eager, zeros around an image times a weight of infinity are not a number.
TEST_F(FuseTrace, KeepsTapsOfInfinity) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({1, 16, 4, 4}));
  at::Tensor weight = at::randn({16, 16, 3, 3});
  weight[0][0][0][0] = std::numeric_limits<float>::infinity();
  const V y = graph.call1("aten.conv2d.default", {x, graph.weight("w", weight), EagerArgument(),
                                                  pair(1), pair(12), pair(12), 1});
  graph.output(graph.call1("aten.relu.default", {y}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// As many rows as channels: a scale of one must not be taken for a scale of the other.
TEST_F(FuseTrace, LeavesScalesOfRowsOfPixels) {
  const ConvolutionCase shape{.in = 9, .out = 9, .size = 3, .groups = 9};
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 9, 9}));
  const V image = graph.call1("aten.view.default", {graph.call1("aten.transpose.int", {x, 1, 2}),
                                                    Attribute::list({2, 9, 3, 3})});
  const V y = graph.call1("aten.flatten.using_ints", {convolution(graph, image, "conv", shape), 2});
  const V rows = graph.call1("aten.transpose.int", {y, 1, 2});
  graph.output(graph.call1("aten.mul.Tensor", {rows, graph.weight("scale", at::randn({9, 1}))}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, KeepsPaddingThatIsNotOfTheConvolution) {
  const ConvolutionCase shape{.kernel = 5, .padding = 0};
  const auto expect_kept = [](EagerGraph& graph, const V& y) {
    graph.output(y);
    EXPECT_TRUE(has_padding(graph));
    EXPECT_EQ(difference_at_fast(graph), "");
  };
  EagerGraph ones;
  expect_kept(ones, convolution(ones, padded(ones, image(ones), {1, 1, 1, 1}, 1), "a", shape));
  EagerGraph cut;
  expect_kept(cut, convolution(cut, padded(cut, image(cut), {1, 1, -1, 1}), "a", shape));
  EagerGraph channels;
  const V more = padded(channels, image(channels, {.in = 15}), {1, 1, 1, 1, 0, 1});
  expect_kept(channels, convolution(channels, more, "a", shape));
  EagerGraph read;
  const V both = padded(read, image(read), {1, 1, 1, 1});
  read.output(read.call1("aten.cos.default", {both}));
  expect_kept(read, convolution(read, both, "a", shape));
}

// Folded zeros count, in an average and in a maximum; a pooling's own padding does not.
TEST_F(FuseTrace, FoldsPaddingIntoPoolingWhereItIsRight) {
  for (const bool counts_padding : {true, false}) {
    for (const int64_t own : {0, 1}) {
      EagerGraph graph;
      const V x = convolution(graph, image(graph), "a", {.kernel = 1, .padding = 0});
      graph.output(graph.call1(
          "aten.avg_pool2d.default",
          {padded(graph, x, {0, 1, 1, 0}), pair(4), pair(2), pair(own), false, counts_padding}));
      EXPECT_EQ(has_padding(graph), own == 1 && !counts_padding);
      EXPECT_EQ(difference_at_fast(graph), "") << counts_padding << ", " << own;
    }
  }
  constexpr double kLeast = -std::numeric_limits<double>::infinity();
  for (const bool is_positive : {true, false}) {
    for (const double value : {0.0, 0.5, kLeast}) {
      EagerGraph graph;
      V x = convolution(graph, image(graph), "a", {.kernel = 1, .padding = 0});
      if (is_positive) x = graph.call1("aten.relu.default", {x});
      graph.output(graph.call1("aten.max_pool2d.default",
                               {padded(graph, x, {0, 1, 0, 1}, value), pair(3), pair(2), pair(1)}));
      EXPECT_FALSE(has_padding(graph));
      EXPECT_EQ(difference_at_fast(graph), "") << is_positive << ", " << value;
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
    const V y = graph.call1("aten.conv2d.default", {x, weight, std::monostate(), pair(1), pair(1)});
    graph.output(graph.call(
        "aten.native_batch_norm.default",
        {y, std::monostate(), std::monostate(), mean, variance, false, 0.1, epsilon})[0]);
  }
  EXPECT_EQ(calls_at_fast(graph), Calls(4, winograd()));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// As BiT's ResNet does. One weight has more than 16 MB.
TEST_F(FuseTrace, FoldsStandardizedWeights) {
  for (const int64_t out : {16, 4096}) {
    EagerGraph graph;
    const ConvolutionCase shape{.in = 1050, .size = 2, .kernel = 1, .padding = 0};
    const V weight = graph.weight("w", at::randn({out, 1050, 1, 1}));
    const V rows = graph.call1("aten.view.default", {weight, Attribute::list({1, out, 1050})});
    const V standard =
        graph.call1("aten.batch_norm.default", {rows, {}, {}, {}, {}, true, 0.0, 1e-6, false});
    const V scaled =
        graph.call1("aten.view.default", {standard, Attribute::list({out, 1050, 1, 1})});
    graph.output(graph.call1("aten.conv2d.default", {image(graph, shape), scaled}));
    EXPECT_EQ(calls_at_fast(graph), Calls{"onednn::convolution"});
    if (out != 16) continue;
    EXPECT_EQ(difference_at_fast(graph), "");
  }
}

TEST_F(FuseTrace, TakesActivationsOfOneDimension) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({1, 20, 50}));
  const auto convolve = [&](const V& value, const at::Tensor& weight, const EagerArgument& bias) {
    const V w = graph.weight(fmt::format("w{}", weight.size(1)), weight / 8);
    return graph.call1("aten.conv1d.default",
                       {value, w, bias, Attribute::list({1}), Attribute::list({1})});
  };
  const V y = convolve(x, at::randn({32, 20, 3}), graph.weight("b", at::randn({32})));
  const V z = graph.call1("aten.gelu.default", {y});
  const V w = convolve(z, at::randn({32, 32, 3}), {});
  graph.output(graph.call1("aten.add.Tensor", {w, z}));
  graph.output(graph.call1("aten.transpose.int", {z, 1, 2}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

}  // namespace
}  // namespace torch_ir
