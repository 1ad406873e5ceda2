#include "torch_ir/runtime/trace/memory_plan.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace torch_ir {
namespace {

// With a greater sum of lifetimes, blocks are placed in order only. Up to it, placing takes less
// than a second.
constexpr size_t kMaxLifetimes = size_t{1} << 24;

size_t round_up(size_t bytes, size_t alignment) {
  return (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
}

size_t most_alive(const std::vector<MemoryBlock>& blocks, size_t alignment) {
  std::map<size_t, int64_t> changes;
  for (const MemoryBlock& block : blocks) {
    const auto bytes = static_cast<int64_t>(round_up(block.bytes, alignment));
    changes[block.first] += bytes;
    changes[block.last + 1] -= bytes;
  }
  int64_t alive = 0;
  int64_t most = 0;
  for (const auto& [when, change] : changes) {
    alive += change;
    most = std::max(most, alive);
  }
  return static_cast<size_t>(most);
}

size_t sum_of_lifetimes(const std::vector<MemoryBlock>& blocks) {
  size_t sum = 0;
  for (const MemoryBlock& block : blocks) sum += block.last - block.first + 1;
  return sum;
}

// The narrowest gap for `bytes` between `taken`, ranges by offset and end, or their end.
size_t find_gap(size_t bytes, const std::vector<std::pair<size_t, size_t>>& taken) {
  size_t best = SIZE_MAX;
  size_t best_gap = SIZE_MAX;
  size_t end = 0;
  for (const auto& [taken_offset, taken_end] : taken) {
    const size_t gap = taken_offset - std::min(taken_offset, end);
    if (gap >= bytes && gap < best_gap) {
      best = end;
      best_gap = gap;
    }
    end = std::max(end, taken_end);
  }
  return best == SIZE_MAX ? end : best;
}

class BestFitArena {
 public:
  size_t take(size_t bytes) {
    const auto found = by_size_.lower_bound({bytes, 0});
    if (found == by_size_.end()) return std::exchange(end_, end_ + bytes);
    const auto [gap, offset] = *found;
    remove_gap(offset, gap);
    if (gap > bytes) add_gap(offset + bytes, gap - bytes);
    return offset;
  }

  void give_back(size_t offset, size_t bytes) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + bytes) {
      const auto [next_offset, next_bytes] = *next;
      remove_gap(next_offset, next_bytes);
      bytes += next_bytes;
    }
    next = by_offset_.lower_bound(offset);
    if (next != by_offset_.begin()) {
      const auto [previous_offset, previous_bytes] = *std::prev(next);
      if (previous_offset + previous_bytes == offset) {
        remove_gap(previous_offset, previous_bytes);
        offset = previous_offset;
        bytes += previous_bytes;
      }
    }
    add_gap(offset, bytes);
  }

 private:
  void add_gap(size_t offset, size_t bytes) {
    by_size_.emplace(bytes, offset);
    by_offset_.emplace(offset, bytes);
  }

  void remove_gap(size_t offset, size_t bytes) {
    by_size_.erase({bytes, offset});
    by_offset_.erase(offset);
  }

  size_t end_ = 0;
  std::set<std::pair<size_t, size_t>> by_size_;
  std::map<size_t, size_t> by_offset_;
};

std::vector<size_t> placed_by_size(const std::vector<MemoryBlock>& blocks, size_t alignment) {
  std::vector<size_t> offsets(blocks.size());
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](size_t index) { return blocks[index].bytes; });
  // By call: the placed blocks that are alive.
  std::vector<std::vector<size_t>> placed_at(std::ranges::max(blocks, {}, &MemoryBlock::last).last +
                                             1);
  for (const size_t index : order) {
    const MemoryBlock& block = blocks[index];
    std::vector<std::pair<size_t, size_t>> taken;
    for (size_t call = block.first; call <= block.last; ++call) {
      for (const size_t other : placed_at[call]) {
        if (std::max(blocks[other].first, block.first) != call) continue;
        taken.emplace_back(offsets[other],
                           offsets[other] + round_up(blocks[other].bytes, alignment));
      }
      placed_at[call].push_back(index);
    }
    std::ranges::sort(taken);
    offsets[index] = find_gap(round_up(block.bytes, alignment), taken);
  }
  return offsets;
}

std::vector<size_t> placed_in_order(const std::vector<MemoryBlock>& blocks, size_t alignment) {
  std::vector<size_t> offsets(blocks.size());
  std::vector<size_t> by_first(blocks.size());
  std::iota(by_first.begin(), by_first.end(), 0);
  std::vector<size_t> by_last = by_first;
  std::ranges::stable_sort(by_first, {}, [&](size_t index) { return blocks[index].first; });
  std::ranges::stable_sort(by_last, {}, [&](size_t index) { return blocks[index].last; });
  BestFitArena arena;
  auto ended = by_last.begin();
  for (const size_t index : by_first) {
    for (; blocks[*ended].last < blocks[index].first; ++ended) {
      arena.give_back(offsets[*ended], round_up(blocks[*ended].bytes, alignment));
    }
    offsets[index] = arena.take(round_up(blocks[index].bytes, alignment));
  }
  return offsets;
}

std::vector<size_t> side_by_side(const std::vector<MemoryBlock>& blocks, size_t alignment) {
  std::vector<size_t> offsets;
  size_t end = 0;
  for (const MemoryBlock& block : blocks) {
    offsets.push_back(end);
    end += round_up(block.bytes, alignment);
  }
  return offsets;
}

size_t end_of(const std::vector<MemoryBlock>& blocks, size_t alignment,
              const std::vector<size_t>& offsets) {
  size_t end = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    end = std::max(end, offsets[i] + round_up(blocks[i].bytes, alignment));
  }
  return end;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<MemoryBlock>& blocks, size_t alignment, bool reuse) {
  MemoryPlan plan;
  plan.lower_bound = most_alive(blocks, alignment);
  plan.offsets = reuse ? placed_in_order(blocks, alignment) : side_by_side(blocks, alignment);
  plan.arena_bytes = end_of(blocks, alignment, plan.offsets);
  if (!reuse || plan.arena_bytes == plan.lower_bound || sum_of_lifetimes(blocks) > kMaxLifetimes) {
    return plan;
  }
  std::vector<size_t> offsets = placed_by_size(blocks, alignment);
  const size_t end = end_of(blocks, alignment, offsets);
  if (end < plan.arena_bytes) {
    plan.offsets = std::move(offsets);
    plan.arena_bytes = end;
  }
  return plan;
}

}  // namespace torch_ir
