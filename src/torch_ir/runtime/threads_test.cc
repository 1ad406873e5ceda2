#include "torch_ir/runtime/threads/threads.h"

#include <ATen/Parallel.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

class Threads : public testing::Test {
 protected:
  void SetUp() override { at::set_num_threads(3); }
  void TearDown() override { at::set_num_threads(before_); }

  struct Parts {
    std::set<std::pair<int64_t, int64_t>> bounds;
    std::set<std::thread::id> threads;
  };
  static Parts parts_of(int64_t count, int64_t grain) {
    std::mutex mutex;
    Parts parts;
    parallel_for(count, grain, [&](int64_t first, int64_t end) {
      const std::lock_guard<std::mutex> lock(mutex);
      parts.bounds.emplace(first, end);
      parts.threads.insert(std::this_thread::get_id());
    });
    return parts;
  }

 private:
  int before_ = at::get_num_threads();
};

using Bounds = std::set<std::pair<int64_t, int64_t>>;

TEST_F(Threads, ShareTheWork) {
  const Parts parts = parts_of(100, 10);
  EXPECT_EQ(parts.bounds, (Bounds{{0, 34}, {34, 68}, {68, 100}}));
  EXPECT_EQ(parts.threads.size(), 3);
  EXPECT_EQ(parts_of(100, 50).bounds, (Bounds{{0, 50}, {50, 100}}));
  EXPECT_EQ(parts_of(100, 100).bounds, (Bounds{{0, 100}}));
  EXPECT_EQ(parts_of(0, 1).bounds, Bounds{});
}

TEST_F(Threads, LimitToOne) {
  {
    const OneThread one_thread;
    EXPECT_EQ(at::get_num_threads(), 1);
    EXPECT_EQ(parts_of(100, 10).bounds, (Bounds{{0, 100}}));
  }
  EXPECT_EQ(at::get_num_threads(), 3);
}

TEST_F(Threads, HandOnErrors) {
  const auto fail = [](int64_t first, int64_t) {
    if (first > 0) throw std::runtime_error("a part failed");
  };
  EXPECT_THROW(parallel_for(100, 10, fail), std::runtime_error);
}

// The bits of some calls depend on the number of threads: a plan runs them on as many as eager.
TEST_F(Threads, GiveAPlanTheBitsOfEager) {
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
}

}  // namespace
}  // namespace torch_ir
