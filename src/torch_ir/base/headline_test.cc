#include "torch_ir/base/headline.h"

#include <gtest/gtest.h>

#include <string>

namespace torch_ir {
namespace {

TEST(HeadlineTest, IsTheFirstLine) {
  EXPECT_EQ(headline(""), "");
  EXPECT_EQ(headline("all there is"), "all there is");
  EXPECT_EQ(headline("what\nwhere\n"), "what");
  EXPECT_EQ(headline("\n  what  \r\nwhere"), "what");
  const std::string long_line(5000, 'a');
  EXPECT_EQ(headline(long_line), long_line);
}

TEST(HeadlineTest, AColonHasWhatItAnnouncesBehindIt) {
  EXPECT_EQ(headline("not well formed:\n  node 'a' is made twice\n  node 'b' too"),
            "not well formed: node 'a' is made twice");
  EXPECT_EQ(headline("these:\n - one\n - two"), "these: one");
  EXPECT_EQ(headline("these:\n\n\t* one"), "these: one");
  EXPECT_EQ(headline("these:\n\u2022 one"), "these: one");
  EXPECT_EQ(headline("outer:\n  inner:\n    reason\nmore"), "outer: inner: reason");
  EXPECT_EQ(headline("nothing follows:\n \n"), "nothing follows:");
  EXPECT_EQ(headline("a: b\nc"), "a: b");
  EXPECT_EQ(headline("the value is:\n-1"), "the value is: -1");
}

TEST(HeadlineTest, ControlCharactersAreEscaped) {
  EXPECT_EQ(headline("a\x1b[2J\rb\tc"), "a\\x1b[2J\\x0db c");
  EXPECT_EQ(headline("\xff"), "\\xff");
}

}  // namespace
}  // namespace torch_ir
