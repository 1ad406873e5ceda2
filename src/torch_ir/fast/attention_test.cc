// Attention at level `fast`, against LibTorch's.

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <string>

#include "torch_ir/fast/testing/fuse_trace_fixture.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

constexpr const char* kAttention = "torch_ir::attention";

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
  return aten(graph, "transpose.int", {x, 1, 2});
}

// Query, key and value.
std::array<V, 3> heads(EagerGraph& graph, const AttentionCase& shape) {
  return {heads(graph, "q", shape, shape.rows, shape.size),
          heads(graph, "k", shape, shape.keys, shape.size),
          heads(graph, "v", shape, shape.keys, shape.value_size)};
}

V attention(EagerGraph& graph, const AttentionCase& shape, const EagerArgument& mask,
            bool is_causal = false) {
  const auto [q, k, v] = heads(graph, shape);
  return aten(graph, "scaled_dot_product_attention", {q, k, v, mask, 0.0, is_causal});
}

// `change` makes of the scores what softmax gets along `dim`; `shares` is its result.
V spelled_attention(EagerGraph& graph, const AttentionCase& shape,
                    const std::function<V(const V& scores)>& change, int64_t dim = -1,
                    V* shares = nullptr) {
  const auto [q, k, v] = heads(graph, shape);
  const V transposed = aten(graph, "transpose.int", {k, 2, 3});
  const V scores = change(aten(graph, "matmul", {q, transposed}));
  const V softmax = aten(graph, "softmax.int", {scores, dim});
  if (shares != nullptr) *shares = softmax;
  return aten(graph, "matmul", {softmax, v});
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
      EXPECT_EQ(fault_at_fast(graph, kAttention, shape.value_size % 16 == 0), "");
    }
  }
}

TEST_F(FuseTrace, FollowsMasksOfAttention) {
  const AttentionCase shape{.batch = 2, .rows = 20, .keys = 40};
  const at::Tensor causal = at::ones({1, 1, 20, 40}, at::kBool).tril(3);
  at::Tensor with_empty_row = causal.clone();
  with_empty_row.select(2, 5).fill_(false);
  at::Tensor with_gap = causal.clone();
  with_gap.select(3, 1).fill_(false);
  for (const at::Tensor& mask :
       {causal, causal.select(0, 0).select(0, 0), with_empty_row, at::zeros({20, 40}), with_gap,
        at::rand({20, 40}), at::rand({20, 1}), causal.expand({2, 3, 20, 40}).contiguous(),
        at::rand({2, 1, 20, 40}), at::rand({3, 20, 40}), at::rand({20, 40, 3}).permute({2, 0, 1}),
        at::rand({1, 3, 40, 20}).transpose(2, 3), with_gap.log()}) {
    for (const bool is_input : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", fmt::join(mask.sizes(), "x"), is_input));
      EagerGraph graph;
      const V given = is_input ? graph.input("mask", mask) : graph.weight("mask", mask);
      graph.output(attention(graph, shape, given));
      EXPECT_EQ(fault_at_fast(graph, kAttention, 1), "");
    }
  }
  EagerGraph twice;
  const auto [q, k, v] = heads(twice, shape);
  const V mask = twice.weight("mask", at::full({20, 40}, -INFINITY).triu(10));
  twice.output(twice.call("aten._scaled_dot_product_flash_attention_for_cpu.default",
                          {q, k, v, 0.0, true, mask})[0]);
  EXPECT_EQ(fault_at_fast(twice, kAttention, 0), "");
}

// LibTorch makes zeros of rows that see no key; softmax makes NaN, for which a run starts again.
TEST_F(FuseTrace, HidesAllKeysOfRows) {
  const AttentionCase shape{.batch = 2, .rows = 20, .keys = 40};
  for (const float hidden : {-INFINITY, NAN, -1e30F}) {
    for (const int64_t dims : {3, 4}) {
      at::Tensor mask = at::rand({3, 20, 40});
      mask.select(1, 5).fill_(hidden);
      mask.select(1, 7).narrow(1, 0, 30).fill_(-INFINITY);
      if (dims == 4) mask = mask.unsqueeze(0);
      EagerGraph safe;
      safe.output(attention(safe, shape, safe.input("mask", mask)));
      EXPECT_EQ(fault_at_fast(safe, kAttention, !std::isnan(hidden)), "") << hidden << dims;
      EagerGraph spelled;
      spelled.output(spelled_attention(spelled, shape, [&](const V& scores) {
        return aten(spelled, "add.Tensor", {scores, spelled.input("mask", mask)});
      }));
      EXPECT_EQ(fault_at_fast(spelled, kAttention, std::isfinite(hidden)), "") << hidden << dims;
    }
  }
}

// Windows' shifts are added for batches in groups.
TEST_F(FuseTrace, RecognizesBiases) {
  const AttentionCase shape{.batch = 6, .rows = 12, .keys = 12};
  const auto add = [](EagerGraph& graph, const V& scores, const V& other) {
    return aten(graph, "add.Tensor", {other, scores});
  };
  for (const int64_t outer : {1, 2}) {
    EagerGraph graph;
    graph.output(spelled_attention(graph, shape, [&](const V& scores) {
      const V factor = graph.input("factor", at::rand({12, 1}));
      const V bias =
          aten(graph, "mul.Tensor", {graph.input("bias", at::rand({1, 3, 12, 12})), factor});
      const V windows = view(graph, add(graph, scores, bias), {2, 3, 3, 12, 12});
      const V shifts = graph.weight("mask", at::randn({outer, 3, 1, 12, 12}));
      return view(graph, add(graph, windows, shifts), {6, 3, 12, 12});
    }));
    EXPECT_EQ(fault_at_fast(graph, kAttention, outer == 1), "") << outer;
  }
  // Scaled after the sum, or the bias is.
  for (const bool is_scaled : {false, true}) {
    EagerGraph graph;
    graph.output(spelled_attention(graph, shape, [&](const V& scores) {
      const V bias = graph.weight("bias", at::rand({3, 12, 12}));
      const V sum = aten(graph, "add.Tensor", {scores, bias, is_scaled ? 1.0 : 2.0});
      return is_scaled ? aten(graph, "mul.Tensor", {sum, 0.5}) : sum;
    }));
    EXPECT_EQ(fault_at_fast(graph, kAttention, 0), "");
  }
  // A scaled bias with the shape of the scores, on either side of the sum.
  for (const bool is_first : {false, true}) {
    EagerGraph graph;
    graph.output(spelled_attention(graph, {.rows = 12, .keys = 12}, [&](const V& scores) {
      const V bias = graph.input("bias", at::randn({1, 3, 12, 12}));
      const V scaled = aten(graph, "mul.Tensor", {bias, 0.5});
      return is_first ? add(graph, scores, scaled) : add(graph, scaled, scores);
    }));
    EXPECT_EQ(fault_at_fast(graph, kAttention, 1), "") << is_first;
  }
  // Another reader of the scores.
  EagerGraph read;
  V sum;
  read.output(spelled_attention(read, shape, [&](const V& scores) {
    return sum = add(read, scores, read.weight("bias", at::rand({3, 12, 12})));
  }));
  read.output(aten(read, "relu", {sum}));
  EXPECT_EQ(fault_at_fast(read, kAttention, 0), "");
}

TEST_F(FuseTrace, RecognizesAttention) {
  for (const int64_t batch : {1, 2}) {
    for (const std::string scale : {"mul.Tensor", "div.Tensor", "", "add.Tensor"}) {
      for (const int64_t dim : {-1, 3, 2}) {
        for (const bool is_read : {false, true}) {
          const AttentionCase shape{.batch = batch, .rows = 12, .keys = 12};
          EagerGraph graph;
          V shares;
          const auto change = [&](const V& scores) {
            return scale.empty() ? scores : aten(graph, scale, {scores, 0.7});
          };
          graph.output(spelled_attention(graph, shape, change, dim, &shares));
          if (is_read) graph.output(shares);
          const bool is_found = dim != 2 && !is_read && scale != "add.Tensor";
          EXPECT_EQ(fault_at_fast(graph, kAttention, is_found), "") << scale << dim;
        }
      }
    }
  }
}

// Without the dimension of the keys, what says which rows see no key goes along other dimensions.
TEST_F(FuseTrace, ReplacesRowsOfAttentionThatSeeNoKey) {
  for (const bool keeps_dim : {false, true}) {
    EagerGraph graph;
    const auto [q, k, v] = heads(graph, {.heads = 4, .rows = 4, .keys = 4});
    at::Tensor mask = at::zeros({4, 4});
    mask[1].fill_(-INFINITY);
    const V product = aten(graph, "matmul", {q, aten(graph, "transpose.int", {k, 2, 3})});
    const V scores = aten(graph, "add.Tensor", {product, graph.weight("mask", mask)});
    const V hidden = aten(graph, "isneginf", {scores});
    const V sees_none = aten(graph, "all.dim", {hidden, -1, keeps_dim});
    const V zero = graph.weight("zero", at::zeros({}));
    const V softmax = aten(graph, "softmax.int", {scores, -1});
    const V shares = aten(graph, "where.self", {sees_none, zero, softmax});
    graph.output(aten(graph, "matmul", {shares, v}));
    EXPECT_EQ(fault_at_fast(graph, kAttention, keeps_dim), "") << keeps_dim;
  }
}

}  // namespace
}  // namespace torch_ir
