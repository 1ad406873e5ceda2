// Tests the traces that the level `fast` makes with oneDNN, and that their results are within 1e-4
// of eager's.

#include "torch_ir/runtime/fusion/fuse_trace.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/Version.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "torch_ir/runtime/onednn/primitive.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

using Calls = std::vector<std::string>;

class FuseTrace : public testing::Test {
 protected:
  void SetUp() override {
    if (!onednn_version()) GTEST_SKIP() << "built without oneDNN";
  }
};

// The name of a convolution by Winograd's algorithm, which oneDNN 2 has for AVX-512 only, and
// oneDNN 3 no more.
std::string winograd() {
  const bool has_it = at::get_cpu_capability() == "AVX512" && onednn_version()->starts_with("2.");
  return has_it ? "onednn::convolution_winograd" : "onednn::convolution";
}

Attribute pair(int64_t number) { return Attribute::list({number, number}); }

struct ConvolutionCase {
  int64_t batch = 1;
  int64_t in = 16;
  int64_t out = 16;
  int64_t size = 12;
  int64_t kernel = 3;
  int64_t stride = 1;
  int64_t padding = 1;
  int64_t dilation = 1;
  int64_t groups = 1;
};

V convolution(EagerGraph& graph, const V& x, const std::string& name, const ConvolutionCase& shape,
              bool has_bias = true) {
  const V weight =
      graph.weight(name + ".weight",
                   at::randn({shape.out, shape.in / shape.groups, shape.kernel, shape.kernel}) /
                       static_cast<double>(shape.kernel * 4));
  EagerArgument bias;
  if (has_bias) bias = graph.weight(name + ".bias", at::randn({shape.out}));
  return graph.call1("aten.conv2d.default",
                     {x, weight, bias, pair(shape.stride), pair(shape.padding),
                      pair(shape.dilation), Attribute(shape.groups)});
}

V image(EagerGraph& graph, const ConvolutionCase& shape = {}) {
  return graph.input("x", at::randn({shape.batch, shape.in, shape.size, shape.size}));
}

V batch_norm(EagerGraph& graph, const V& x, const std::string& name, int64_t channels = 16) {
  return graph.call1("aten.batch_norm.default",
                     {x, graph.weight(name + ".weight", at::randn({channels})),
                      graph.weight(name + ".bias", at::randn({channels})),
                      graph.weight(name + ".running_mean", at::randn({channels})),
                      graph.weight(name + ".running_var", at::rand({channels}) + 0.5),
                      Attribute(false), Attribute(0.1), Attribute(1e-5), Attribute(false)});
}

TEST_F(FuseTrace, MakesPrimitivesOfConvolutions) {
  const ConvolutionCase cases[] = {
      {},
      {.batch = 3},
      {.in = 3, .out = 8, .size = 17, .kernel = 5, .stride = 2, .padding = 2},
      {.in = 5, .out = 7, .size = 9},
      {.size = 1, .kernel = 1, .padding = 0},
      {.in = 24, .out = 40, .kernel = 1, .padding = 0},
      {.in = 24, .out = 24, .groups = 24},
      {.in = 12, .out = 24, .stride = 2, .groups = 12},
      {.in = 32, .out = 16, .groups = 4},
      {.padding = 2, .dilation = 2},
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

TEST_F(FuseTrace, TakesNormAdditionAndActivationIntoTheConvolution) {
  for (const bool is_winograd : {false, true}) {
    const ConvolutionCase shape{
        .in = 16, .out = 16, .kernel = is_winograd ? 3 : 5, .padding = is_winograd ? 1 : 2};
    EagerGraph graph;
    const V x = image(graph, shape);
    const V first = graph.call1("aten.relu.default", {convolution(graph, x, "a", shape)});
    const V second = convolution(graph, first, "b", shape);
    const V norm = batch_norm(graph, convolution(graph, second, "c", shape, false), "norm");
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
      EXPECT_EQ(calls_at_fast(graph).size(), 1) << activation;
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
            .in = 16, .out = 16, .kernel = is_winograd ? 3 : 1, .padding = is_winograd ? 1 : 0};
        V y = convolution(graph, image(graph, shape), "conv", shape);
        y = graph.call1(fmt::format("aten.{}.default", first), {y});
        y = graph.call1(fmt::format("aten.{}.default", second), {y});
        graph.output(y);
        EXPECT_EQ(difference_at_fast(graph), "") << first << ", " << second << ", " << is_winograd;
      }
    }
  }
}

TEST_F(FuseTrace, WritesInPlaceAsFunctions) {
  EagerGraph graph;
  const V x = image(graph);
  const V y = batch_norm(graph, convolution(graph, x, "a", {}, false), "norm");
  graph.call("aten.relu_.default", {y});
  const V z = convolution(graph, convolution(graph, y, "b", {}), "c", {});
  graph.call("aten.add_.Tensor", {z, y});
  graph.call("aten.relu_.default", {z});
  graph.output(graph.call1("aten.flatten.using_ints", {z, Attribute(1)}));
  EXPECT_EQ(calls_at_fast(graph), Calls(3, winograd()));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// The result of an in-place operator replaces an earlier value.
TEST_F(FuseTrace, WritesInPlaceBetweenOperatorsOfLibTorch) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({1, 16, 12, 12}));
  const V y = graph.call1("aten.mul.Tensor", {x, x});
  graph.call("aten.hardswish_.default", {y});
  const V z = graph.call1("aten.exp.default", {y});
  graph.call("aten.add_.Tensor", {z, x});
  graph.output(graph.call1("aten.sum.dim_IntList",
                           {graph.call1("aten.cos.default", {z}), Attribute::list({1})}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// A view of written memory shows the write, even if the view was made before.
TEST_F(FuseTrace, WritesInPlaceSeenThroughViews) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 16, 8}));
  const V y = graph.call1("aten.mul.Tensor", {x, x});
  const V view = graph.call1("aten.view.default", {y, Attribute::list({16, 16})});
  const V column = graph.call1("aten.select.int", {y, Attribute(2), Attribute(1)});
  graph.call("aten.sub_.Tensor", {y, x});
  graph.call("aten.mul_.Tensor", {column, column});
  graph.call("aten.tanh_.default", {view});
  graph.output(view);
  graph.output(y);
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, KeepsWhatOthersReadOrGet) {
  EagerGraph graph;
  const V x = image(graph);
  const V y = convolution(graph, x, "a", {});
  const V z = graph.call1("aten.relu.default", {y});
  const V w = graph.call1("aten.add.Tensor", {convolution(graph, z, "b", {}), y});
  const V v = graph.call1("aten.add.Tensor", {convolution(graph, w, "c", {}), w});
  graph.output(y);
  graph.output(z);
  graph.output(w);
  graph.output(v);
  graph.output(graph.call1("aten.transpose.int", {v, Attribute(1), Attribute(2)}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// The addend is the input of the convolution.
TEST_F(FuseTrace, AddsTheSourceItself) {
  for (const int64_t kernel : {1, 3}) {
    EagerGraph graph;
    const ConvolutionCase shape{.kernel = kernel, .padding = kernel / 2};
    const V x = graph.call1("aten.sigmoid.default", {convolution(graph, image(graph), "a", shape)});
    const V y = convolution(graph, x, "b", shape);
    graph.output(graph.call1("aten.add.Tensor", {x, y}));
    EXPECT_EQ(difference_at_fast(graph), "");
  }
}

TEST_F(FuseTrace, CarriesLayoutsThroughPoolingAndConcatenation) {
  EagerGraph graph;
  const V a = graph.call1("aten.relu.default",
                          {convolution(graph, image(graph), "a", {.kernel = 1, .padding = 0})});
  const V b = convolution(graph, a, "b", {.out = 32});
  const V all = graph.call1("aten.cat.default", {VList{a, b}, Attribute(1)});
  const V norm = graph.call1("aten.relu.default", {batch_norm(graph, all, "norm", 48)});
  const V c = convolution(graph, norm, "c", {.in = 48});
  const V pooled = graph.call1("aten.avg_pool2d.default", {c, pair(2)});
  const V most = graph.call1("aten.max_pool2d.default", {a, pair(3), pair(2), pair(1)});
  const V scaled = graph.call1("aten.mul.Tensor", {pooled, most});
  graph.output(graph.call1("aten.adaptive_avg_pool2d.default", {scaled, pair(1)}));
  graph.output(graph.call1("aten.adaptive_avg_pool2d.default", {pooled, pair(3)}));
  graph.output(graph.call1("aten.mean.dim", {norm, Attribute::list({2, 3}), Attribute(true)}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// In ceil mode the last window extends past the padding, which oneDNN cannot leave out of the
// count.
TEST_F(FuseTrace, AveragesWithAndWithoutPadding) {
  for (const bool counts_padding : {true, false}) {
    for (const bool is_ceil : {true, false}) {
      for (const int64_t padding : {0, 1}) {
        SCOPED_TRACE(fmt::format("{} {} {}", counts_padding, is_ceil, padding));
        EagerGraph graph;
        const V y = convolution(graph, image(graph), "a", {.out = 32});
        const V pooled = graph.call1("aten.avg_pool2d.default",
                                     {y, pair(3), pair(2), pair(padding), is_ceil, counts_padding});
        graph.output(convolution(graph, pooled, "b", {.in = 32}));
        EXPECT_EQ(std::ranges::count(calls_at_fast(graph), "onednn::pooling"),
                  is_ceil && counts_padding && padding == 1 ? 0 : 1);
        EXPECT_EQ(difference_at_fast(graph), "");
      }
    }
  }
}

TEST_F(FuseTrace, PoolsMaximaInEveryLayout) {
  for (const int64_t channels : {5, 8, 24, 64}) {
    for (const bool is_ceil : {false, true}) {
      EagerGraph graph;
      const ConvolutionCase shape{.batch = 2, .out = channels};
      const V x = convolution(graph, image(graph, shape), "a", shape);
      graph.output(graph.call1("aten.max_pool2d.default",
                               {x, Attribute::list({3, 2}), Attribute::list({2, 3}),
                                Attribute::list({1, 0}), pair(1), is_ceil}));
      EXPECT_EQ(std::ranges::count(calls_at_fast(graph), "torch_ir::max_pool"), 1) << channels;
      EXPECT_EQ(difference_at_fast(graph), "") << channels;
    }
  }
}

// As GoogLeNet does, between blocks and at the end.
TEST_F(FuseTrace, KeepsLayoutsFromBlockToBlock) {
  EagerGraph graph;
  const V x = convolution(graph, image(graph), "x", {.out = 32});
  VList branches;
  for (const char* name : {"a", "b"}) {
    branches.push_back(graph.call1(
        "aten.relu.default", {convolution(graph, x, name, {.in = 32, .kernel = 1, .padding = 0})}));
  }
  const V joined = graph.call1("aten.cat.default", {branches, Attribute(1)});
  const V pooled = graph.call1("aten.max_pool2d.default",
                               {joined, pair(3), pair(2), pair(0), pair(1), Attribute(true)});
  const V again = graph.call1("aten.max_pool2d.default", {pooled, pair(3), pair(1), pair(1)});
  graph.output(graph.call1("aten.mean.dim", {again, Attribute::list({2, 3})}));
  for (const std::string& call : calls_at_fast(graph)) EXPECT_FALSE(call.starts_with("aten::"));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// As a U-Net does. Windows that overlap, leave gaps or are in groups stay LibTorch's.
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
                               pair(0), pair(shape.output_padding), Attribute(shape.groups)});
      const V z = shape.has_norm ? batch_norm(graph, y, "norm", shape.out) : y;
      graph.output(graph.call1("aten.relu.default", {z}));
      const bool is_apart =
          shape.kernel == shape.stride && shape.output_padding == 0 && shape.groups == 1;
      EXPECT_EQ(calls_at_fast(graph) == Calls(is_carried ? 2 : 1, "onednn::convolution"), is_apart);
      EXPECT_EQ(difference_at_fast(graph), "") << shape.kernel << ", " << shape.out;
    }
  }
}

V padded(EagerGraph& graph, const V& x, const std::vector<int64_t>& padding, double value = 0) {
  return graph.call1("aten.pad.default",
                     {x, Attribute::list(padding), "constant", Attribute(value)});
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
      graph.output(
          graph.call1("aten.avg_pool2d.default", {padded(graph, x, {0, 1, 1, 0}), pair(4), pair(2),
                                                  pair(own), Attribute(false), counts_padding}));
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

TEST_F(FuseTrace, SharesCopiesThatNobodyWrites) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 16, 8}));
  const V y = graph.call1("aten.mul.Tensor", {x, x});
  const V copy = graph.call1("aten.clone.default", {y});
  const V column = graph.call1("aten.select.int", {copy, Attribute(1), Attribute(3)});
  graph.output(graph.call1("aten.exp.default", {column}));
  graph.output(graph.call1("aten.clone.default", {y}));
  const V written = graph.call1("aten.clone.default", {y});
  const V first = graph.call1("aten.select.int", {written, Attribute(1), Attribute(0)});
  graph.call("aten.mul_.Tensor", {first, first});
  graph.output(graph.call1("aten.cos.default", {written}));
  const auto calls = calls_at_fast(graph);
  EXPECT_EQ(std::ranges::count(calls, "aten::clone"), 2);
  EXPECT_EQ(difference_at_fast(graph), "");
}

// Weights are packed with the norm after them, down to the last digit of its epsilon.
TEST_F(FuseTrace, PacksOneWeightForSeveralNorms) {
  EagerGraph graph;
  const V x = image(graph);
  const V weight = graph.weight("weight", at::randn({16, 16, 3, 3}) / 12000.0);
  const V mean = graph.weight("mean", at::randn({16}) / 1000.0);
  const V variance = graph.weight("variance", at::rand({16}) / 1e6);
  for (const double epsilon : {1e-5, 0.5, 1e-7, 4e-7}) {
    const V y = graph.call1("aten.conv2d.default", {x, weight, std::monostate(), pair(1), pair(1)});
    graph.output(graph.call("aten.native_batch_norm.default",
                            {y, std::monostate(), std::monostate(), mean, variance,
                             Attribute(false), Attribute(0.1), epsilon})[0]);
  }
  EXPECT_EQ(calls_at_fast(graph), Calls(4, winograd()));
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, KeepsWhatIsReturnedBesidesTheNext) {
  EagerGraph graph;
  const V y = convolution(graph, image(graph), "conv", {});
  graph.output(y);
  graph.output(graph.call1("aten.relu.default", {y}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, KnowsPaddedLayouts) {
  using onednn::Layout;
  EXPECT_TRUE(Layout::blocked({1, 16, 1, 1}, 16) == Layout::strided({1, 16, 1, 1}, {16, 1, 1, 1}));
  EXPECT_FALSE(Layout::blocked({1, 12, 1, 1}, 16) == Layout::strided({1, 12, 1, 1}, {12, 1, 1, 1}));
}

// As DenseNet does; what was joined is read and added to afterwards.
TEST_F(FuseTrace, JoinsChannels) {
  for (const int64_t batch : {1, 2}) {
    for (const int64_t channels : {16, 12}) {
      EagerGraph graph;
      const ConvolutionCase first{.batch = batch, .in = 3, .out = channels};
      const V x =
          graph.call1("aten.relu.default", {convolution(graph, image(graph, first), "a", first)});
      const ConvolutionCase second{.batch = batch, .in = channels};
      const V y = convolution(graph, x, "b", second);
      const V xy = graph.call1("aten.cat.default", {VList{x, y}, Attribute(1)});
      const ConvolutionCase third{.batch = batch, .in = channels + 16, .out = channels};
      const V z = convolution(graph, graph.call1("aten.relu.default", {xy}), "c", third);
      const V sum = graph.call1("aten.add.Tensor", {z, x});
      const V all = graph.call1("aten.cat.default", {VList{xy, sum, x, x}, Attribute(1)});
      graph.output(graph.call1("aten.add.Tensor", {convolution(graph, sum, "d", second), y}));
      graph.output(all);
      EXPECT_EQ(difference_at_fast(graph), "") << batch << ", " << channels;
    }
  }
}

// As MixNet does: parts of the channels go through convolutions of their own. All is oneDNN's, also
// the norm after them.
TEST_F(FuseTrace, SplitsChannels) {
  for (const int64_t batch : {1, 2}) {
    EagerGraph graph;
    const ConvolutionCase first{.batch = batch, .out = 26, .kernel = 1, .padding = 0};
    const V x = convolution(graph, image(graph, first), "a", first);
    const std::vector<V> parts =
        graph.call("aten.split_with_sizes.default", {x, Attribute::list({10, 16}), Attribute(1)});
    const V b = convolution(graph, parts[0], "b", {.in = 10, .out = 10, .groups = 10});
    const V c = convolution(graph, parts[1], "c", {.kernel = 5, .padding = 2, .groups = 16});
    const V all = graph.call1("aten.cat.default", {VList{b, c}, Attribute(1)});
    const V norm = graph.call1("aten.silu.default", {batch_norm(graph, all, "norm", 26)});
    graph.output(convolution(graph, norm, "d", {.in = 26}));
    graph.output(graph.call1("aten.mean.dim", {norm, Attribute::list({2, 3}), Attribute(true)}));
    // LibTorch copies parts of several images before it convolves them.
    for (const std::string& call : calls_at_fast(graph)) {
      EXPECT_TRUE(call.starts_with("onednn::") || batch == 2) << call;
    }
    EXPECT_EQ(difference_at_fast(graph), "") << batch;
  }
}

// As RegNet does: with groups of 8 channels oneDNN would choose blocks of 8.
TEST_F(FuseTrace, KeepsLayoutsInGroupedConvolutions) {
  EagerGraph graph;
  const V x = convolution(graph, image(graph), "a", {.out = 24, .kernel = 1, .padding = 0});
  const V y = convolution(graph, x, "b", {.in = 24, .out = 24, .groups = 3});
  graph.output(convolution(graph, y, "c", {.in = 24, .kernel = 1, .padding = 0}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// As Hugging Face's MobileNetV2 and EfficientNet end.
TEST_F(FuseTrace, EndsWithOneWindowAndDropout) {
  EagerGraph graph;
  const V x = convolution(graph, image(graph), "a", {});
  const V pooled = graph.call1("aten.avg_pool2d.default", {x, pair(40), pair(40), pair(0), true});
  const V flat = graph.call1("aten.view.default", {pooled, Attribute::list({1, 16})});
  graph.output(graph.call1("aten.dropout_.default", {flat, Attribute(0.5), Attribute(false)}));
  EXPECT_EQ(calls_at_fast(graph)[1], "onednn::pooling");
  EXPECT_EQ(difference_at_fast(graph), "");
}

// As BiT's ResNet does. One weight has more than 16 MB.
TEST_F(FuseTrace, FoldsStandardizedWeights) {
  for (const int64_t out : {16, 4096}) {
    EagerGraph graph;
    const ConvolutionCase shape{.in = 1050, .size = 2, .kernel = 1, .padding = 0};
    const V weight = graph.weight("w", at::randn({out, 1050, 1, 1}));
    const V rows = graph.call1("aten.view.default", {weight, Attribute::list({1, out, 1050})});
    const V standard = graph.call1(
        "aten.batch_norm.default",
        {rows, {}, {}, {}, {}, Attribute(true), Attribute(0.0), Attribute(1e-6), Attribute(false)});
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
  const V y = graph.call1("aten.conv1d.default", {x, graph.weight("w", at::randn({32, 20, 3}) / 8),
                                                  graph.weight("b", at::randn({32})),
                                                  Attribute::list({1}), Attribute::list({1})});
  const V z = graph.call1("aten.gelu.default", {y});
  const V w = graph.call1("aten.conv1d.default", {z,
                                                  graph.weight("v", at::randn({32, 32, 3}) / 8),
                                                  {},
                                                  Attribute::list({1}),
                                                  Attribute::list({1})});
  graph.output(graph.call1("aten.add.Tensor", {w, z}));
  graph.output(graph.call1("aten.transpose.int", {z, Attribute(1), Attribute(2)}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, KeepsNormsOfOtherChannels) {
  EagerGraph graph;
  const V y = convolution(graph, image(graph), "a", {}, /*has_bias=*/false);
  const V view = graph.call1("aten.view.default", {y, Attribute::list({16, 1, 12, 12})});
  graph.output(batch_norm(graph, view, "norm", 1));
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, ScalesChannels) {
  EagerGraph graph;
  const V x = convolution(graph, image(graph), "a", {});
  const V squeezed = graph.call1("aten.adaptive_avg_pool2d.default", {x, pair(1)});
  const V gate =
      graph.call1("aten.hardsigmoid.default",
                  {convolution(graph, squeezed, "b", {.size = 1, .kernel = 1, .padding = 0})});
  const V scaled = graph.call1("aten.mul.Tensor", {gate, x});
  graph.output(convolution(graph, scaled, "c", {}));
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
      EXPECT_EQ(calls_at_fast(graph), Calls(2, "onednn::inner_product"));
      EXPECT_EQ(difference_at_fast(graph), "") << activation;
    }
  }
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
                   "onednn::inner_product", "onednn::inner_product", "aten::mul"}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, ScalesWhatLinearLayersAdd) {
  for (const double beta : {1.0, 0.5}) {
    EagerGraph graph;
    const V x = graph.input("x", at::randn({32, 64}));
    const V weight = graph.weight("weight", at::randn({64, 64}) / 8);
    const V y =
        graph.call1("aten.addmm.default", {graph.weight("bias", at::randn({64})), x, weight, beta});
    graph.output(y);
    EXPECT_EQ(difference_at_fast(graph), "") << beta;
  }
}

TEST_F(FuseTrace, TellsActivationsOfOneOperatorApart) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({32, 64}));
  const V weight = graph.weight("weight", at::randn({64, 64}) / 8);
  const auto linear = [&] { return graph.call1("aten.linear.default", {x, weight}); };
  graph.output(graph.call1("aten.gelu.default", {linear()}));
  graph.output(graph.call1("aten.gelu.default", {linear(), "tanh"}));
  graph.output(graph.call1("aten.elu.default", {linear()}));
  graph.output(graph.call1("aten.selu.default", {linear()}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// As Hugging Face spells it.
TEST_F(FuseTrace, RecognizesGelu) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 16, 64}));
  const V y = graph.call1("aten.linear.default", {x, graph.weight("w", at::randn({80, 64}) / 8)});
  const V half = graph.call1("aten.mul.Tensor", {y, graph.weight("half", at::full({}, 0.5))});
  const V cube = graph.call1("aten.pow.Tensor_Scalar", {y, Attribute(3.0)});
  const V scaled =
      graph.call1("aten.mul.Tensor", {cube, graph.weight("c", at::full({}, 0.044715))});
  const V sum = graph.call1("aten.add.Tensor", {y, scaled});
  const V inner =
      graph.call1("aten.mul.Tensor", {sum, graph.weight("d", at::full({}, 0.7978845608028654))});
  const V tanh = graph.call1("aten.tanh.default", {inner});
  const V factor = graph.call1("aten.add.Tensor", {tanh, graph.weight("one", at::full({}, 1.0))});
  graph.output(graph.call1("aten.mul.Tensor", {half, factor}));
  EXPECT_EQ(calls_at_fast(graph), Calls{"onednn::inner_product"});
  EXPECT_EQ(difference_at_fast(graph), "");
}

int64_t count_attention(const EagerGraph& graph) {
  return std::ranges::count(calls_at_fast(graph), "torch_ir::attention");
}

struct AttentionCase {
  int64_t batch = 1;
  int64_t heads = 3;
  int64_t rows = 16;
  int64_t keys = 16;
  int64_t size = 16;
  int64_t value_size = 16;
};

// [batch, heads, rows, size], as projections give them.
V heads(EagerGraph& graph, const std::string& name, const AttentionCase& shape, int64_t rows,
        int64_t size) {
  const V x = graph.input(name, at::randn({shape.batch, rows, shape.heads, size}) * 2);
  return graph.call1("aten.transpose.int", {x, Attribute(1), Attribute(2)});
}

V attention(EagerGraph& graph, const AttentionCase& shape, const EagerArgument& mask,
            bool is_causal = false) {
  return graph.call1("aten.scaled_dot_product_attention.default",
                     {heads(graph, "q", shape, shape.rows, shape.size),
                      heads(graph, "k", shape, shape.keys, shape.size),
                      heads(graph, "v", shape, shape.keys, shape.value_size), mask, Attribute(0.0),
                      Attribute(is_causal)});
}

TEST_F(FuseTrace, ComputesAttention) {
  for (const AttentionCase& shape :
       {AttentionCase{}, AttentionCase{.rows = 4, .keys = 1}, AttentionCase{.batch = 2, .rows = 37},
        AttentionCase{.keys = 65, .size = 20, .value_size = 20},
        AttentionCase{.rows = 9, .size = 64},
        AttentionCase{.rows = 21, .keys = 48, .size = 64, .value_size = 64}}) {
    for (const bool is_causal : {false, true}) {
      SCOPED_TRACE(fmt::format("{} rows, {} keys, causal {}", shape.rows, shape.keys, is_causal));
      EagerGraph graph;
      graph.output(attention(graph, shape, std::monostate(), is_causal));
      EXPECT_EQ(count_attention(graph), shape.size % 16 == 0 && shape.value_size == shape.size);
      EXPECT_EQ(difference_at_fast(graph), "");
    }
  }
}

// Of a mask that is constant and the same for all heads, and that shows each row the first keys.
TEST_F(FuseTrace, FollowsMasksOfAttention) {
  const AttentionCase shape{.batch = 2, .rows = 20, .keys = 40};
  const at::Tensor causal = at::ones({1, 1, 20, 40}, at::kBool).tril(3);
  at::Tensor with_empty_row = causal.clone();
  with_empty_row.select(2, 5).fill_(false);
  at::Tensor with_gap = causal.clone();
  with_gap.select(3, 1).fill_(false);
  const std::pair<at::Tensor, bool> masks[] = {
      {causal, true},
      {causal.select(0, 0).select(0, 0), true},
      {with_empty_row, true},
      {at::zeros({20, 40}), true},
      {with_gap, false},
      {at::rand({20, 40}), false},
      {causal.expand({2, 3, 20, 40}).contiguous(), false},
  };
  for (const auto& [mask, is_taken] : masks) {
    EagerGraph graph;
    graph.output(attention(graph, shape, graph.weight("mask", mask)));
    EXPECT_EQ(count_attention(graph), is_taken);
    EXPECT_EQ(difference_at_fast(graph), "");
  }
  EagerGraph twice;
  const V q = heads(twice, "q", shape, shape.rows, shape.size);
  const V k = heads(twice, "k", shape, shape.keys, shape.size);
  const V v = heads(twice, "v", shape, shape.keys, shape.value_size);
  const V mask = twice.weight("mask", at::full({20, 40}, -INFINITY).triu(10));
  twice.output(twice.call("aten._scaled_dot_product_flash_attention_for_cpu.default",
                          {q, k, v, Attribute(0.0), Attribute(true), mask})[0]);
  EXPECT_EQ(count_attention(twice), 0);
  EXPECT_EQ(difference_at_fast(twice), "");
  EagerGraph given;
  given.output(attention(given, shape, given.input("mask", causal)));
  EXPECT_EQ(count_attention(given), 0);
  EXPECT_EQ(difference_at_fast(given), "");
}

// With several batches LibTorch copies the keys in another order.
TEST_F(FuseTrace, RecognizesAttention) {
  for (const int64_t batch : {1, 2}) {
    for (const char* scale : {"mul", "div", "none", "add"}) {
      for (const int64_t dim : {-1, 3, 2}) {
        for (const bool is_read : {false, true}) {
          const AttentionCase shape{.batch = batch, .rows = 12, .keys = 12};
          EagerGraph graph;
          const V k = heads(graph, "k", shape, shape.keys, shape.size);
          V scores =
              graph.call1("aten.matmul.default",
                          {heads(graph, "q", shape, shape.rows, shape.size),
                           graph.call1("aten.transpose.int", {k, Attribute(2), Attribute(3)})});
          if (scale != std::string("none")) {
            scores = graph.call1(fmt::format("aten.{}.Tensor", scale), {scores, Attribute(0.7)});
          }
          const V shares = graph.call1("aten.softmax.int", {scores, Attribute(dim)});
          const V v = heads(graph, "v", shape, shape.keys, shape.value_size);
          graph.output(graph.call1("aten.matmul.default", {shares, v}));
          if (is_read) graph.output(shares);
          EXPECT_EQ(count_attention(graph),
                    batch == 1 && dim != 2 && !is_read && scale != std::string("add"));
          EXPECT_EQ(difference_at_fast(graph), "") << scale << dim;
        }
      }
    }
  }
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

// As Llama and T5 spell it.
TEST_F(FuseTrace, RecognizesRmsNorm) {
  for (const int64_t size : {64, 40, 3}) {
    for (const bool is_read : {false, true}) {
      EagerGraph graph;
      const V x = graph.call1("aten.exp.default", {graph.input("x", at::randn({2, 5, size}))});
      const V square = graph.call1("aten.pow.Tensor_Scalar", {x, Attribute(2)});
      const V mean = graph.call1("aten.mean.dim", {square, Attribute::list({-1}), Attribute(true)});
      const V sum = graph.call1("aten.add.Tensor", {mean, Attribute(1e-5)});
      const V scaled =
          graph.call1("aten.mul.Tensor", {x, graph.call1("aten.rsqrt.default", {sum})});
      graph.output(graph.call1("aten.mul.Tensor", {graph.weight("w", at::randn({size})), scaled}));
      if (is_read) graph.output(graph.call1("aten.cos.default", {mean}));
      EXPECT_EQ(calls_at_fast(graph) == (Calls{"aten::exp", "torch_ir::rms_norm"}), !is_read);
      EXPECT_EQ(difference_at_fast(graph), "") << size;
    }
  }
}

TEST_F(FuseTrace, LeavesOtherDtypesAndSmallLinearLayers) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({1, 16, 8, 8}).to(at::kDouble));
  const V w = graph.weight("w", at::randn({16, 16, 3, 3}).to(at::kDouble));
  graph.output(graph.call1("aten.conv2d.default", {x, w}));
  const V small = graph.input("small", at::randn({1, 8}));
  graph.output(graph.call1("aten.linear.default", {small, graph.weight("v", at::randn({8, 8}))}));
  for (const std::string& call : calls_at_fast(graph)) EXPECT_FALSE(call.starts_with("onednn"));
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST_F(FuseTrace, TakesInputsInAnyLayout) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 12, 12, 16}).permute({0, 3, 1, 2}));
  const V y = convolution(graph, x, "a", {});
  graph.output(graph.call1("aten.relu.default", {y}));
  const V z = graph.input("z", at::randn({64, 2, 80}).transpose(0, 1));
  graph.output(graph.call1("aten.linear.default", {z, graph.weight("v", at::randn({80, 80}))}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// As in eager, a convolution and a maximum propagate NaN.
TEST_F(FuseTrace, PropagatesNaN) {
  EagerGraph graph;
  at::Tensor data = at::randn({1, 16, 12, 12});
  data[0][3][4][5] = std::numeric_limits<float>::quiet_NaN();
  const V x = graph.input("x", data);
  const V y = convolution(graph, x, "a", {.kernel = 1, .padding = 0});
  graph.output(graph.call1("aten.max_pool2d.default", {y, pair(2)}));
  graph.output(y);
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, SharesWeightsBetweenLayoutsAndThreads) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({1, 16, 12, 12}));
  graph.output(graph.call1("aten.relu.default", {convolution(graph, x, "a", {})}));
  const ExecutionPlan plan = fast_plan(graph);
  const at::Tensor expected = graph.expected()[0];
  std::vector<std::thread> threads;
  std::atomic<int> num_close = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        num_close += at::allclose(plan.run(graph.inputs)[0], expected, 1e-4, 1e-4) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_close, 80);
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
