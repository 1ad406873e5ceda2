#include "torch_ir/analysis/diff_alignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string_view>

namespace torch_ir {
namespace {

using Sequence = std::vector<uint32_t>;

Sequence letters(std::string_view text) { return {text.begin(), text.end()}; }

void expect_alignment(const Sequence& a, const Sequence& b, const std::vector<AlignedPair>& pairs) {
  size_t next_a = 0;
  size_t next_b = 0;
  for (const AlignedPair& pair : pairs) {
    ASSERT_GE(pair.a, next_a);
    ASSERT_GE(pair.b, next_b);
    ASSERT_LT(pair.a, a.size());
    ASSERT_LT(pair.b, b.size());
    EXPECT_EQ(a[pair.a], b[pair.b]);
    next_a = pair.a + 1;
    next_b = pair.b + 1;
  }
}

// By the table of all prefixes.
size_t longest_common_subsequence(const Sequence& a, const Sequence& b) {
  std::vector<size_t> row(b.size() + 1);
  for (const uint32_t key : a) {
    size_t diagonal = 0;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1] = key == b[j] ? diagonal + 1 : std::max(above, row[j]);
      diagonal = above;
    }
  }
  return row.back();
}

TEST(Align, PairsWhatIsEqual) {
  EXPECT_EQ(align(letters("abc"), letters("abc")),
            (std::vector<AlignedPair>{{0, 0}, {1, 1}, {2, 2}}));
  EXPECT_EQ(align(letters("abc"), letters("axbc")),
            (std::vector<AlignedPair>{{0, 0}, {1, 2}, {2, 3}}));
  EXPECT_EQ(align(letters(""), letters("abc")), std::vector<AlignedPair>());
  EXPECT_EQ(align(letters("abc"), letters("xyz")), std::vector<AlignedPair>());
}

// Without anchors, for every letter is there more than once, it is the longest.
TEST(Align, IsLongest) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const auto sequence = [&] {
      Sequence keys = {0, 0, 1, 1, 2, 2};
      while (keys.size() < 6 + random() % 30) keys.push_back(random() % 3);
      std::ranges::shuffle(keys, random);
      return keys;
    };
    const Sequence a = sequence();
    const Sequence b = sequence();
    const auto pairs = align(a, b);
    expect_alignment(a, b, pairs);
    EXPECT_EQ(pairs.size(), longest_common_subsequence(a, b));
  }
}

TEST(Align, PutsWhatIsUniqueFirst) {
  // The anchor U divides; the longest would be all of the letters x.
  EXPECT_EQ(align(letters("Uxxx"), letters("xxxU")), (std::vector<AlignedPair>{{0, 3}}));
}

// Nothing, everything or half is common, in any order: time and memory stay small.
TEST(Align, IsFastWhateverTheSequencesHold) {
  std::mt19937 random(2);
  const auto sequence = [&](uint32_t first, uint32_t num_keys) {
    Sequence keys(100000);
    for (uint32_t& key : keys) key = first + random() % num_keys;
    return keys;
  };
  for (const uint32_t num_keys : {1, 2, 50, 30000}) {
    const Sequence a = sequence(0, num_keys);
    const Sequence b = sequence(0, num_keys);
    const auto pairs = align(a, b);
    expect_alignment(a, b, pairs);
    EXPECT_GT(pairs.size(), 0);
    EXPECT_EQ(align(a, sequence(100000, num_keys)).size(), 0);
    EXPECT_EQ(align(a, a).size(), a.size());
  }
}

}  // namespace
}  // namespace torch_ir
