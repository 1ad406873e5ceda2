#include <ATen/Parallel.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

// The bits of some calls depend on the number of threads: a plan runs them on as many as eager.
TEST(ThreadBits, AreEagersOnSeveralThreads) {
  const int threads = at::get_num_threads();
  at::set_num_threads(4);
  const at::Tensor rows = at::randn({40, 65});
  const at::Tensor image = at::randn({1, 4, 32, 32}).contiguous(at::MemoryFormat::ChannelsLast);
  EagerGraph graph;
  const V x = graph.input("x", rows);
  for (const int dim : {0, -1}) {
    graph.output(graph.call1("aten.softmax.int", {x, dim}));
  }
  graph.output(graph.call1("aten.layer_norm.default", {x, Attribute::list({65})}));
  const V y = graph.input("image", image);
  graph.output(graph.call1("aten.group_norm.default", {y, 2}));
  graph.output(graph.call1("aten.gelu.default", {x}));
  graph.output(graph.call1("aten.conv2d.default", {y, graph.weight("w", at::randn({6, 4, 3, 3}))}));
  // An image of one channel is contiguous in both memory formats.
  const V one =
      graph.input("one", at::randn({1, 64, 64}).as_strided({1, 1, 64, 64}, {4096, 1, 64, 1}));
  graph.output(graph.call1("aten.group_norm.default", {one, 1}));
  // With another number of threads, MKL changes single elements.
  for (const at::ScalarType dtype : {at::kFloat, at::kComplexFloat}) {
    const std::string name = at::toString(dtype);
    const V tall = graph.input("rows" + name, at::randn({401, 33}, dtype));
    graph.output(graph.call1("aten.matmul.default",
                             {tall, graph.input("column" + name, at::randn({33, 1}, dtype))}));
    const V wide = graph.input("wide" + name, at::randn({44, 278}, dtype));
    const V turned = graph.input("turned" + name, at::randn({7, 278}, dtype).t());
    graph.output(graph.call1("aten.matmul.default", {wide, turned}));
  }
  // One row of queries, where LibTorch leaves threads to MKL.
  const V query = graph.input("query", at::randn({1, 1, 1, 64}));
  const V key = graph.input("key", at::randn({1, 1, 128, 64}));
  graph.output(graph.call1("aten.scaled_dot_product_attention.default", {query, key, key}));
  // Few rows and long sums, whose parts MKL may share out.
  for (const int64_t columns : {1, 3, 50}) {
    const V w = graph.weight(fmt::format("w{}", columns), at::randn({columns, 65}));
    graph.output(graph.call1("aten.linear.default", {x, w}));
    const V a = graph.input(fmt::format("a{}", columns), at::randn({2, columns, 3000}));
    graph.output(
        graph.call1("aten.matmul.default", {a, graph.call1("aten.transpose.int", {a, 1, 2})}));
  }
  EXPECT_EQ(difference_from_eager(graph), "");
  at::set_num_threads(threads);
}

}  // namespace
}  // namespace torch_ir
