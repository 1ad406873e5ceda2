#include "torch_ir/base/printable.h"

#include <gtest/gtest.h>

namespace torch_ir {
namespace {

TEST(PrintableTest, EscapesControlCharactersAndWhatIsNoUtf8AndCutsLongText) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("layer.0.weight 'x' \\n"), "layer.0.weight 'x' \\n");
  EXPECT_EQ(printable("caf\u00e9 \u5f20\u91cf \U0001f525"), "caf\u00e9 \u5f20\u91cf \U0001f525");
  EXPECT_EQ(printable("a\nb\r\t\x1b[2J\x7f"), "a\\x0ab\\x0d\\x09\\x1b[2J\\x7f");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\u0085\u2028\u202e\u2066"),
            "\\xc2\\x85\\xe2\\x80\\xa8\\xe2\\x80\\xae\\xe2\\x81\\xa6");
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("a\xc3"), "a\\xc3");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "a slash in two bytes";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
  EXPECT_EQ(printable(std::string(256, 'a')), std::string(256, 'a'));
  EXPECT_EQ(printable(std::string(257, 'a')), std::string(256, 'a') + "...");
  EXPECT_EQ(printable(std::string(257, 'a'), 257), std::string(257, 'a'));
}

TEST(HeadlineTest, IsTheFirstLine) {
  EXPECT_EQ(headline(""), "");
  EXPECT_EQ(headline("all there is"), "all there is");
  EXPECT_EQ(headline("what\nwhere\n"), "what");
  EXPECT_EQ(headline("\n  what  \r\nwhere"), "what");
  const std::string long_line(5000, 'a');
  EXPECT_EQ(headline(long_line), long_line);
  EXPECT_EQ(headline("a\x1b[2J\rb\tc"), "a\\x1b[2J\\x0db c");
  EXPECT_EQ(headline("\xff"), "\\xff");
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

TEST(ShortLineTest, IsOneShortLine) {
  EXPECT_EQ(short_line(" a\n\tb\x1b[1m  c\x7f\n"), "a b [1m c");
  const std::string fits(kMaxMessageSize, 'a');
  EXPECT_EQ(short_line(fits), fits);
  const std::string line = short_line("begin " + std::string(5000, 'a') + " end");
  EXPECT_LE(line.size(), kMaxMessageSize);
  EXPECT_TRUE(line.starts_with("begin aaa")) << line;
  EXPECT_TRUE(line.ends_with("aaa end")) << line;
}

TEST(ShortLineTest, LeavesPathsWhole) {
  const std::string path = "/" + std::string(200, 'a') + "/";
  const std::string line = path + "x with " + path + "y: what " + path + "z";
  EXPECT_EQ(short_line(line), line);
  EXPECT_LE(short_line(line + line).size(), kMaxMessageSize);
  std::string words;
  for (int i = 0; i < 100; ++i) words += "words ";
  EXPECT_LE(short_line(words).size(), kMaxMessageSize);
}

TEST(ShortLineTest, CutsNoCharacterApart) {
  for (size_t shift = 0; shift < 4; ++shift) {
    std::string text(shift, 'a');
    for (int i = 0; i < 400; ++i) text += "\U0001f525";
    const std::string line = short_line(text);
    EXPECT_LE(line.size(), kMaxMessageSize);
    EXPECT_EQ(printable(line, line.size()), line);
  }
}

}  // namespace
}  // namespace torch_ir
