#include "torch_ir/base/suggestion.h"

#include <gtest/gtest.h>

namespace torch_ir {
namespace {

TEST(SuggestionTest, NamesTheNearestWordsAndThoseThatAPartBegins) {
  EXPECT_EQ(suggest("infp", {"validate", "info", "diff"}), "; did you mean 'info'?");
  EXPECT_EQ(suggest("selfatention", {"CrossAttention", "SelfAttention"}),
            "; did you mean 'SelfAttention'?");
  // Swapped letters are one mistake.
  EXPECT_EQ(suggest("inof", {"verify", "info"}), "; did you mean 'info'?");
  EXPECT_EQ(suggest("abc", {}), "");
  EXPECT_EQ(suggest("", {"abc"}), "");
  EXPECT_EQ(suggest("abc", {"abd"}), "; did you mean 'abd'?");
  EXPECT_EQ(suggest("abc", {"axy"}), "");
  EXPECT_EQ(suggest("abcdef", {"abcxyf"}), "; did you mean 'abcxyf'?");
  EXPECT_EQ(suggest("abcdef", {"abxyzf"}), "");
  EXPECT_EQ(suggest("aten.conv", {"aten.cov", "aten.conv_tbc", "aten.conv1d.default",
                                  "aten.conv2d.default", "aten.conv1d", "aten.conv2d"}),
            "; did you mean 'aten.conv1d', 'aten.conv2d' or 'aten.conv_tbc'?");
  EXPECT_EQ(suggest("Float8", {"float64", "float8_e4m3fn", "float8_e5m2"}),
            "; did you mean 'float8_e5m2' or 'float8_e4m3fn'?");
  EXPECT_EQ(suggest("conv2d", {"aten.conv2d.default", "aten.conv2d"}),
            "; did you mean 'aten.conv2d'?");
  EXPECT_EQ(suggest("a", {"ab", "ac", "ad", "ae", "af", "ag"}),
            "; did you mean 'ab', 'ac', 'ad', 'ae' or 'af'?");
}

}  // namespace
}  // namespace torch_ir
