// Pooling, joined and split channels at level `fast`, in the layouts of the convolutions
// before them, against LibTorch's.

#include <ATen/ops/full.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "torch_ir/fast/onednn/primitive.h"
#include "torch_ir/fast/testing/fuse_trace_fixture.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

using testing::AnyOf;
using testing::Each;
using testing::Not;
using testing::StartsWith;

// In ceil mode the last window extends past the padding, which oneDNN cannot leave out of the
// count.
TEST_F(FuseTrace, AveragesWithAndWithoutPadding) {
  for (const bool counts_padding : {true, false}) {
    for (const bool is_ceil : {true, false}) {
      for (const int64_t padding : {0, 1}) {
        SCOPED_TRACE(fmt::format("{} {} {}", counts_padding, is_ceil, padding));
        EagerGraph graph;
        const V y = convolution(graph, image(graph), "a", {.out = 32});
        const V pooled = aten(graph, "avg_pool2d",
                              {y, pair(3), pair(2), pair(padding), is_ceil, counts_padding});
        graph.output(convolution(graph, pooled, "b", {.in = 32}));
        EXPECT_EQ(fault_at_fast(graph, "onednn::pooling",
                                is_ceil && counts_padding && padding == 1 ? 0 : 1),
                  "");
      }
    }
  }
}

// As between the levels of a U-Net. Of a factor like 2.1 the neighbours are others.
TEST_F(FuseTrace, RepeatsPixelsInTheLayoutOfAConvolution) {
  for (const double factor : {2.0, 3.0, 2.1}) {
    EagerGraph graph;
    const V y = convolution(graph, image(graph, {.size = 6}), "a", {.out = 32});
    const V large =
        aten(graph, "upsample_nearest2d.vec", {y, {}, Attribute::list({factor, factor})});
    graph.output(convolution(graph, large, "b", {.in = 32}));
    EXPECT_EQ(fault_at_fast(graph, "onednn::resampling", factor == 2.1 ? 0 : 1), "");
  }
}

// oneDNN adds the pixels of a window one after another, which loses precision over many.
TEST_F(FuseTrace, LeavesMeansOfManyPixels) {
  for (const int64_t size : {60, 300}) {
    EagerGraph graph;
    const V x = graph.input("x", at::full({1, 16, size, size}, 0.1));
    const V y = pointwise(graph, x, "a");
    graph.output(aten(graph, "mean.dim", {y, Attribute::list({2, 3})}));
    EXPECT_EQ(fault_at_fast(graph, "onednn::pooling", size == 60 ? 1 : 0), "") << size;
  }
}

TEST_F(FuseTrace, PoolsMaximaInEveryLayout) {
  for (const int64_t channels : {5, 8, 24, 64}) {
    for (const bool is_ceil : {false, true}) {
      EagerGraph graph;
      const ConvolutionCase shape{.batch = 2, .out = channels};
      const V x = convolution(graph, image(graph, shape), "a", shape);
      graph.output(aten(graph, "max_pool2d",
                        {x, Attribute::list({3, 2}), Attribute::list({2, 3}),
                         Attribute::list({1, 0}), pair(1), is_ceil}));
      EXPECT_EQ(fault_at_fast(graph, "torch_ir::max_pool", 1), "") << channels;
    }
  }
}

// As GoogLeNet does, between blocks and at the end.
TEST_F(FuseTrace, KeepsLayoutsFromBlockToBlock) {
  EagerGraph graph;
  const V x = convolution(graph, image(graph), "x", {.out = 32});
  VList branches;
  for (const char* name : {"a", "b"}) {
    branches.push_back(aten(graph, "relu", {convolution(graph, x, name, {.in = 32, .kernel = 1})}));
  }
  const V joined = aten(graph, "cat", {branches, 1});
  const V pooled = aten(graph, "max_pool2d", {joined, pair(3), pair(2), pair(0), pair(1), true});
  const V again = aten(graph, "max_pool2d", {pooled, pair(3), pair(1), pair(1)});
  graph.output(aten(graph, "mean.dim", {again, Attribute::list({2, 3})}));
  // oneDNN 3 has no pooling with one window for channels last without AVX-512.
  const std::string last = has_avx512() || has_onednn_2() ? "onednn::pooling" : "aten::mean";
  EXPECT_THAT(calls_at_fast(graph), Each(AnyOf(last, Not(StartsWith("aten::")))));
  EXPECT_EQ(difference_at_fast(graph), "");
}

TEST_F(FuseTrace, KnowsPaddedLayouts) {
  using onednn::Layout;
  EXPECT_TRUE(Layout::blocked({1, 16, 1, 1}, 16) == Layout::strided({1, 16, 1, 1}, {16, 1, 1, 1}));
  EXPECT_FALSE(Layout::blocked({1, 12, 1, 1}, 16) == Layout::strided({1, 12, 1, 1}, {12, 1, 1, 1}));
}

// As MixNet does: parts of the channels go through convolutions of their own. All is oneDNN's, also
// the norm after them.
TEST_F(FuseTrace, SplitsChannels) {
  for (const int64_t batch : {1, 2}) {
    EagerGraph graph;
    const ConvolutionCase first{.batch = batch, .out = 26, .kernel = 1};
    const V x = convolution(graph, image(graph, first), "a", first);
    const std::vector<V> parts =
        graph.call("aten.split_with_sizes.default", {x, Attribute::list({10, 16}), 1});
    const V b = convolution(graph, parts[0], "b", {.in = 10, .out = 10, .groups = 10});
    const V c = convolution(graph, parts[1], "c", {.kernel = 5, .groups = 16});
    const V all = aten(graph, "cat", {VList{b, c}, 1});
    const V norm = aten(graph, "silu", {batch_norm(graph, all, "norm", 26)});
    graph.output(convolution(graph, norm, "d", {.in = 26}));
    graph.output(aten(graph, "mean.dim", {norm, Attribute::list({2, 3}), true}));
    // LibTorch copies parts of several images before it convolves them.
    EXPECT_EQ(batch == 1 ? fault_without_aten(graph) : difference_at_fast(graph), "") << batch;
  }
}

// As RegNet does: with groups of 8 channels oneDNN would choose blocks of 8.
TEST_F(FuseTrace, KeepsLayoutsInGroupedConvolutions) {
  EagerGraph graph;
  const V x = convolution(graph, image(graph), "a", {.out = 24, .kernel = 1});
  const V y = convolution(graph, x, "b", {.in = 24, .out = 24, .groups = 3});
  graph.output(convolution(graph, y, "c", {.in = 24, .kernel = 1}));
  EXPECT_EQ(difference_at_fast(graph), "");
}

// As Hugging Face's MobileNetV2 and EfficientNet end.
TEST_F(FuseTrace, EndsWithOneWindowAndDropout) {
  EagerGraph graph;
  const V x = convolution(graph, image(graph), "a", {});
  const V pooled = aten(graph, "avg_pool2d", {x, pair(40), pair(40), pair(0), true});
  graph.output(aten(graph, "dropout_", {view(graph, pooled, {1, 16}), 0.5, false}));
  EXPECT_EQ(calls_at_fast(graph)[1], "onednn::pooling");
  EXPECT_EQ(difference_at_fast(graph), "");
}

// As DeepLab and UPerNet do between their convolutions.
TEST_F(FuseTrace, EnlargesImagesWithTheirChannelsBesideEachOther) {
  for (const bool aligns_corners : {true, false}) {
    for (const bool has_scales : {true, false}) {
      EagerGraph graph;
      const ConvolutionCase shape{.batch = 2, .out = 10, .size = 6, .kernel = 1};
      const V x = convolution(graph, image(graph, shape), "a", shape);
      const EagerArgument none;
      const EagerArgument sizes = Attribute::list({9, 14});
      const EagerArgument scales = Attribute::list({1.5, 2.5});
      const V y = aten(graph, "upsample_bilinear2d.vec",
                       {x, has_scales ? none : sizes, aligns_corners, has_scales ? scales : none});
      graph.output(convolution(graph, y, "b", {.in = 10, .kernel = 1}));
      EXPECT_EQ(fault_without_aten(graph), "");
    }
  }
}

}  // namespace
}  // namespace torch_ir
