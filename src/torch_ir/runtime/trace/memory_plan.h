// plan_memory: places blocks with known lifetimes in one arena (dynamic storage allocation).
//
// First places blocks in the order of their first calls, each in the smallest gap (best fit). If
// that exceeds the lower bound, also tries them from largest to smallest, each in the narrowest gap
// between placed blocks alive at the same time: "greedy by size" of Pisarchyk and Lee, Efficient
// Memory Management for Deep Neural Net Inference (2020). The smaller arena wins. Greedy by size
// compares all pairs of blocks alive together, so it is skipped if there are too many.
#pragma once

#include <cstddef>
#include <vector>

namespace torch_ir {

// Alive from before call `first` until after call `last`.
struct MemoryBlock {
  size_t bytes = 0;
  size_t first = 0;
  size_t last = 0;
};

struct MemoryPlan {
  // One for each block, in bytes, a multiple of `alignment`.
  std::vector<size_t> offsets;
  size_t arena_bytes = 0;
  // The most that is alive at one time, each block taking a multiple of `alignment`.
  size_t lower_bound = 0;
};

// Without `reuse`, blocks do not share memory.
MemoryPlan plan_memory(const std::vector<MemoryBlock>& blocks, size_t alignment, bool reuse);

}  // namespace torch_ir
