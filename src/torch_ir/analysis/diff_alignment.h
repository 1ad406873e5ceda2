// align: which elements of two sequences are the same?
//
// For diff_match. First elements that both sequences have once are paired, as far as their order
// agrees (Bram Cohen's patience diff); between them the greedy algorithm of E. W. Myers, "An O(ND)
// Difference Algorithm and Its Variations" (1986). Where more than kMaxEdits differ at a stretch,
// it keeps what reaches furthest and begins anew from there, so that time is linear in the length
// of the sequences and memory that of kMaxEdits squared, whatever they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace torch_ir {

inline constexpr int64_t kMaxEdits = 512;

// Positions in both.
struct AlignedPair {
  size_t a = 0;
  size_t b = 0;

  bool operator==(const AlignedPair&) const = default;
};

// Pairs of equal elements, in order in both sequences.
std::vector<AlignedPair> align(std::span<const uint32_t> a, std::span<const uint32_t> b);

}  // namespace torch_ir
