// Attention at level `fast`, against LibTorch's.

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "torch_ir/fast/testing/fuse_trace_fixture.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

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

}  // namespace
}  // namespace torch_ir
