#include "torch_ir/runtime/trace/memory_plan.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace torch_ir {
namespace {

// The faults of `plan`: blocks that are alive together and overlap, offsets that are not
// aligned, or an arena that ends before a block does.
std::string fault(const std::vector<MemoryBlock>& blocks, const MemoryPlan& plan,
                  size_t alignment) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (plan.offsets[i] % alignment != 0) return "not aligned";
    if (plan.offsets[i] + blocks[i].bytes > plan.arena_bytes) return "behind the end";
    for (size_t k = 0; k < i; ++k) {
      const bool are_alive = blocks[i].first <= blocks[k].last && blocks[k].first <= blocks[i].last;
      const bool overlap = plan.offsets[i] < plan.offsets[k] + blocks[k].bytes &&
                           plan.offsets[k] < plan.offsets[i] + blocks[i].bytes;
      if (are_alive && overlap) return "overlap of " + std::to_string(k) + ", " + std::to_string(i);
    }
  }
  return {};
}

std::vector<MemoryBlock> random_blocks(uint32_t seed, size_t count, size_t max_life) {
  std::mt19937 random(seed);
  const auto below = [&](size_t bound) { return random() % bound; };
  std::vector<MemoryBlock> blocks;
  for (size_t i = 0; i < count; ++i) {
    const size_t first = below(count);
    blocks.push_back({below(2000), first, first + below(max_life)});
  }
  return blocks;
}

TEST(MemoryPlan, ReusesAChain) {
  // Each is read by the call that makes the next.
  const std::vector<MemoryBlock> blocks = {{64, 0, 1}, {64, 1, 2}, {64, 2, 3}, {64, 3, 4}};
  const MemoryPlan plan = plan_memory(blocks, 64, /*reuse=*/true);
  EXPECT_EQ(plan.arena_bytes, 128u);
  EXPECT_EQ(plan.lower_bound, 128u);
  EXPECT_EQ(fault(blocks, plan, 64), "");
}

TEST(MemoryPlan, GivesEachItsOwnWithoutReuse) {
  const MemoryPlan plan = plan_memory({{64, 0, 1}, {1, 1, 2}, {64, 2, 3}}, 64, /*reuse=*/false);
  EXPECT_EQ(plan.offsets, (std::vector<size_t>{0, 64, 128}));
  EXPECT_EQ(plan.arena_bytes, 192u);
  EXPECT_EQ(plan.lower_bound, 128u);
}

TEST(MemoryPlan, FillsTheNarrowestGap) {
  // 512 and 256 die, 64 stays between them; the last fits both gaps and takes the narrower one.
  const std::vector<MemoryBlock> blocks = {
      {512, 0, 0}, {64, 0, 2}, {256, 0, 0}, {448, 1, 2}, {192, 1, 2}};
  const MemoryPlan plan = plan_memory(blocks, 64, /*reuse=*/true);
  EXPECT_EQ(fault(blocks, plan, 64), "");
  EXPECT_EQ(plan.arena_bytes, 832u);
}

TEST(MemoryPlan, HasNothingToPlan) {
  EXPECT_EQ(plan_memory({}, 64, /*reuse=*/true).arena_bytes, 0u);
}

TEST(MemoryPlan, NeverOverlapsWhatIsAlive) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const auto blocks = random_blocks(seed, 1 + seed, 1 + seed % 17);
    const MemoryPlan plan = plan_memory(blocks, 64, /*reuse=*/true);
    ASSERT_EQ(fault(blocks, plan, 64), "") << "seed " << seed;
    ASSERT_GE(plan.arena_bytes, plan.lower_bound) << "seed " << seed;
    ASSERT_LE(plan.arena_bytes, plan_memory(blocks, 64, /*reuse=*/false).arena_bytes);
  }
}

// So many pairs that blocks are placed in the order of the calls.
TEST(MemoryPlan, NeverOverlapsWhatIsAliveInLargeGraphs) {
  const auto blocks = random_blocks(7, 6000, 6000);
  const MemoryPlan plan = plan_memory(blocks, 64, /*reuse=*/true);
  EXPECT_EQ(fault(blocks, plan, 64), "");
  EXPECT_LT(plan.arena_bytes, plan.lower_bound * 5 / 4);
}

}  // namespace
}  // namespace torch_ir
