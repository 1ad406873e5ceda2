#include "torch_ir/base/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace torch_ir {
namespace {

TEST(PrintableTest, OrdinaryTextStays) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("layer.0.weight 'x' \\n"), "layer.0.weight 'x' \\n");
  EXPECT_EQ(printable("caf\u00e9 \u5f20\u91cf \U0001f525"), "caf\u00e9 \u5f20\u91cf \U0001f525");
}

TEST(PrintableTest, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("a\nb\r\t\x1b[2J\x7f"), "a\\x0ab\\x0d\\x09\\x1b[2J\\x7f");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\u0085\u2028\u202e\u2066"),
            "\\xc2\\x85\\xe2\\x80\\xa8\\xe2\\x80\\xae\\xe2\\x81\\xa6");
}

TEST(PrintableTest, WhatIsNoUtf8IsEscaped) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("a\xc3"), "a\\xc3");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "a slash in two bytes";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
}

TEST(PrintableTest, LongTextIsCut) {
  EXPECT_EQ(printable(std::string(256, 'a')), std::string(256, 'a'));
  EXPECT_EQ(printable(std::string(257, 'a')), std::string(256, 'a') + "...");
  EXPECT_EQ(printable(std::string(257, 'a'), 257), std::string(257, 'a'));
}

}  // namespace
}  // namespace torch_ir
