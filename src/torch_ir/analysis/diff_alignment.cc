#include "torch_ir/analysis/diff_alignment.h"

#include <algorithm>
#include <unordered_map>

namespace torch_ir {
namespace {

using Pairs = std::vector<AlignedPair>;

// The longest part of `pairs`, which are in order of `a`, that is in order of `b` as well.
Pairs longest_increasing(const Pairs& pairs) {
  // For each length the chain that ends lowest, by its last pair; and the pair before each.
  std::vector<size_t> ends;
  std::vector<size_t> before(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto end =
        std::ranges::lower_bound(ends, pairs[i].b, {}, [&](size_t last) { return pairs[last].b; });
    before[i] = end == ends.begin() ? i : *(end - 1);
    if (end == ends.end()) {
      ends.push_back(i);
    } else {
      *end = i;
    }
  }
  Pairs chain(ends.size());
  size_t last = ends.empty() ? 0 : ends.back();
  for (size_t i = chain.size(); i-- > 0; last = before[last]) chain[i] = pairs[last];
  return chain;
}

Pairs unique_pairs(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  struct Place {
    size_t count_a = 0;
    size_t count_b = 0;
    size_t position_b = 0;
  };
  std::unordered_map<uint32_t, Place> places;
  for (const uint32_t key : a) ++places[key].count_a;
  for (size_t i = 0; i < b.size(); ++i) {
    Place& place = places[b[i]];
    ++place.count_b;
    place.position_b = i;
  }
  Pairs pairs;
  for (size_t i = 0; i < a.size(); ++i) {
    const Place& place = places[a[i]];
    if (place.count_a == 1 && place.count_b == 1) pairs.push_back({i, place.position_b});
  }
  return longest_increasing(pairs);
}

// Myers' greedy search from the beginning of two sequences.
class Search {
 public:
  Search(std::span<const uint32_t> a, std::span<const uint32_t> b)
      : a_(a), b_(b), size_a_(std::ssize(a)), size_b_(std::ssize(b)) {}

  // The pairs up to where both sequences end, or up to where most is behind when kMaxEdits are
  // spent; `end` is set to that place.
  Pairs run(AlignedPair& end) {
    for (int64_t edits = 0; edits <= kMaxEdits; ++edits) {
      reached_.emplace_back(static_cast<size_t>(2 * edits + 1), kNowhere);
      for (int64_t k = -edits; k <= edits; k += 2) {
        int64_t x = edits == 0 ? 0 : enter(edits, k).x;
        if (x == kNowhere) continue;
        while (x < size_a_ && x - k < size_b_ && a_[index(x)] == b_[index(x - k)]) ++x;
        reached_.back()[index(k + edits)] = x;
        if (x == size_a_ && x - k == size_b_) return trace(edits, k, end);
      }
    }
    int64_t best = -kMaxEdits;
    const auto progress = [&](int64_t k) {
      const int64_t x = reached(kMaxEdits, k);
      return x == kNowhere ? kNowhere : 2 * x - k;
    };
    for (int64_t k = -kMaxEdits; k <= kMaxEdits; k += 2) {
      if (progress(k) > progress(best)) best = k;
    }
    return trace(kMaxEdits, best, end);
  }

 private:
  static constexpr int64_t kNowhere = -1;

  struct Entry {
    int64_t x;
    int64_t from;  // The diagonal.
  };

  static size_t index(int64_t value) { return static_cast<size_t>(value); }

  // How far `a` was read on diagonal k = x - y after `edits`.
  int64_t reached(int64_t edits, int64_t k) const {
    if (k < -edits || k > edits) return kNowhere;
    return reached_[index(edits)][index(k + edits)];
  }

  // Where diagonal k is entered with the last of `edits`.
  Entry enter(int64_t edits, int64_t k) const {
    const int64_t above = reached(edits - 1, k + 1);
    const int64_t left = reached(edits - 1, k - 1);
    const int64_t down = above != kNowhere && above - k <= size_b_ ? above : kNowhere;
    const int64_t right = left != kNowhere && left < size_a_ ? left + 1 : kNowhere;
    return down >= right ? Entry{down, k + 1} : Entry{right, k - 1};
  }

  Pairs trace(int64_t edits, int64_t k, AlignedPair& end) const {
    int64_t x = reached(edits, k);
    end = {index(x), index(x - k)};
    Pairs pairs;
    for (;; --edits) {
      const Entry entry = edits == 0 ? Entry{0, 0} : enter(edits, k);
      for (; x > entry.x; --x) pairs.push_back({index(x - 1), index(x - 1 - k)});
      if (edits == 0) break;
      k = entry.from;
      x = reached(edits - 1, k);
    }
    std::ranges::reverse(pairs);
    return pairs;
  }

  const std::span<const uint32_t> a_;
  const std::span<const uint32_t> b_;
  const int64_t size_a_;
  const int64_t size_b_;
  // By number of edits, then by diagonal from -edits on.
  std::vector<std::vector<int64_t>> reached_;
};

// Adds the pairs of the parts of both sequences that begin at `begin` and end before `end`.
void align_part(std::span<const uint32_t> a, std::span<const uint32_t> b, AlignedPair begin,
                AlignedPair end, Pairs& pairs) {
  while (begin.a < end.a && begin.b < end.b && a[begin.a] == b[begin.b]) {
    pairs.push_back({begin.a++, begin.b++});
  }
  size_t num_last = 0;
  while (begin.a < end.a && begin.b < end.b && a[end.a - 1] == b[end.b - 1]) {
    --end.a;
    --end.b;
    ++num_last;
  }
  while (begin.a < end.a && begin.b < end.b) {
    AlignedPair reached;
    for (const AlignedPair& pair :
         Search(a.subspan(begin.a, end.a - begin.a), b.subspan(begin.b, end.b - begin.b))
             .run(reached)) {
      pairs.push_back({begin.a + pair.a, begin.b + pair.b});
    }
    begin = {begin.a + reached.a, begin.b + reached.b};
  }
  for (size_t i = 0; i < num_last; ++i) pairs.push_back({end.a + i, end.b + i});
}

}  // namespace

std::vector<AlignedPair> align(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  Pairs pairs;
  AlignedPair begin;
  for (const AlignedPair& anchor : unique_pairs(a, b)) {
    align_part(a, b, begin, anchor, pairs);
    pairs.push_back(anchor);
    begin = {anchor.a + 1, anchor.b + 1};
  }
  align_part(a, b, begin, {a.size(), b.size()}, pairs);
  return pairs;
}

}  // namespace torch_ir
