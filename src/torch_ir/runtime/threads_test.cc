#include "torch_ir/runtime/threads/threads.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

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

}  // namespace
}  // namespace torch_ir
