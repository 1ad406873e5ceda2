#include "torch_ir/base/suggestion.h"

#include <gtest/gtest.h>

namespace torch_ir {
namespace {

TEST(SuggestionTest, NamesTheNearestWord) {
  EXPECT_EQ(suggest("infp", {"validate", "info", "diff"}), "; did you mean 'info'?");
  EXPECT_EQ(suggest("selfatention", {"CrossAttention", "SelfAttention"}),
            "; did you mean 'SelfAttention'?");
}

TEST(SuggestionTest, UpToAThirdOfTheWordMayBeWrong) {
  EXPECT_EQ(suggest("abc", {"abd"}), "; did you mean 'abd'?");
  EXPECT_EQ(suggest("abc", {"axy"}), "");
  EXPECT_EQ(suggest("abcdef", {"abcxyf"}), "; did you mean 'abcxyf'?");
  EXPECT_EQ(suggest("abcdef", {"abxyzf"}), "");
}

TEST(SuggestionTest, SwappedLettersAreOneMistake) {
  EXPECT_EQ(suggest("inof", {"verify", "info"}), "; did you mean 'info'?");
}

TEST(SuggestionTest, NothingIsLikeNothing) {
  EXPECT_EQ(suggest("abc", {}), "");
  EXPECT_EQ(suggest("", {"abc"}), "");
}

}  // namespace
}  // namespace torch_ir
