#include "harness/benchmark/allocation_counter.h"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace torch_ir {
namespace {

constexpr int64_t kBlock = 100'000;

// Rounded up by less than this.
constexpr int64_t kSlack = 1000;

TEST(AllocationCounter, CountsWhatIsTakenAndHeld) {
  const std::optional<Allocations> found = count_allocations([] {
    for (int i = 0; i < 3; ++i) {
      char* volatile one = new char[kBlock];
      void* volatile other = std::calloc(2, kBlock);
      std::free(other);
      delete[] one;
    }
  });
  if (!found) GTEST_SKIP() << "not with this C library";
  EXPECT_EQ(found->count, 6);
  EXPECT_EQ(found->left_bytes, 0);
  EXPECT_NEAR(static_cast<double>(found->bytes), 9 * kBlock, kSlack);
  EXPECT_NEAR(static_cast<double>(found->peak_bytes), 3 * kBlock, kSlack);
}

TEST(AllocationCounter, CountsReallocatedMemoryOnce) {
  void* memory = std::malloc(kBlock);
  const std::optional<Allocations> found =
      count_allocations([&] { memory = std::realloc(memory, 2 * kBlock); });
  std::free(memory);
  if (!found) GTEST_SKIP() << "not with this C library";
  EXPECT_EQ(found->count, 1);
  EXPECT_NEAR(static_cast<double>(found->peak_bytes), kBlock, kSlack);
  EXPECT_EQ(found->left_bytes, found->peak_bytes);
}

TEST(AllocationCounter, SeesTheTensorsOfLibTorch) {
  at::Tensor tensor;
  const std::optional<Allocations> found =
      count_allocations([&] { tensor = at::empty({kBlock / 4}, at::kFloat); });
  if (!found) GTEST_SKIP() << "not with this C library";
  EXPECT_GE(found->count, 2);
  EXPECT_GE(found->peak_bytes, kBlock);
  EXPECT_LE(found->peak_bytes, kBlock + 2 * kSlack);
}

TEST(AllocationCounter, CountsNothingAfterwards) {
  EXPECT_THROW(count_allocations([] { throw std::runtime_error("stop"); }), std::runtime_error);
  const std::vector<int> not_counted(kBlock);
  const std::optional<Allocations> found = count_allocations([] {});
  if (!found) GTEST_SKIP() << "not with this C library";
  EXPECT_EQ(found->count, 0);
  EXPECT_EQ(found->peak_bytes, 0);
}

TEST(AllocationCounter, KeepsTheRulesOfAlignedMemory) {
  void* memory = nullptr;
  EXPECT_EQ(posix_memalign(&memory, 3, 8), EINVAL);
  EXPECT_EQ(posix_memalign(&memory, 64, 8), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
  std::free(memory);
}

}  // namespace
}  // namespace torch_ir
