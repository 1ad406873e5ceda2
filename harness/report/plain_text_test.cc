#include "harness/report/plain_text.h"

#include <gtest/gtest.h>

#include <string>

namespace torch_ir {
namespace {

TEST(ShownTextTest, KeepsLinesAndEscapesWhatATerminalWouldObey) {
  EXPECT_EQ(shown_text("two\nlines\tand a tab"), "two\nlines\tand a tab");
  EXPECT_EQ(shown_text("\x1b[31mred\x07\r\n"), "\\x1b[31mred\\x07\\x0d\n");
  EXPECT_EQ(shown_text("caf\u00e9 \u2705"), "caf\u00e9 \u2705");
  EXPECT_EQ(shown_text("\xff \u202e \xe2\x82"), "\\xff \\xe2\\x80\\xae \\xe2\\x82");
  EXPECT_EQ(shown_text(""), "");
}

TEST(ShownTextTest, CutsNothing) {
  const std::string text(10'000, 'x');
  EXPECT_EQ(shown_text(text), text);
}

TEST(AsSentenceTest, HasACapitalAndAFullStop) {
  EXPECT_EQ(as_sentence("no reproducer, since all is well"), "No reproducer, since all is well.");
  EXPECT_EQ(as_sentence("seed: 0 -> 7"), "Seed: 0 -> 7.");
  EXPECT_EQ(as_sentence("It is done."), "It is done.");
  EXPECT_EQ(as_sentence("Is it?\n"), "Is it?");
  EXPECT_EQ(as_sentence("x"), "X.");
  EXPECT_EQ(as_sentence(""), "");
}

TEST(AsSentenceTest, LeavesNamesAlone) {
  EXPECT_EQ(as_sentence("oneDNN: 3.5 -> 3.6"), "oneDNN: 3.5 -> 3.6.");
  EXPECT_EQ(as_sentence("aten::add failed"), "aten::add failed.");
  EXPECT_EQ(as_sentence("12 models compared"), "12 models compared.");
}

}  // namespace
}  // namespace torch_ir
