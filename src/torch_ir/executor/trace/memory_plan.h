// plan_memory: where in one arena blocks lie that are not all alive at once.
//
// The problem is dynamic storage allocation with known lifetimes. Blocks are placed in the order of
// their first calls, each in the smallest gap of the moment (best fit); where that takes more than
// the lower bound, also from the largest to the smallest, each in the narrowest gap between those
// already placed that are alive when it is: "greedy by size" of Pisarchyk and Lee, Efficient Memory
// Management for Deep Neural Net Inference (2020). The smaller arena counts. Greedy by size looks
// at all pairs of blocks that are alive together, so not where those are too many.
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

// `reuse` off gives each block bytes of its own.
MemoryPlan plan_memory(const std::vector<MemoryBlock>& blocks, size_t alignment, bool reuse);

}  // namespace torch_ir
