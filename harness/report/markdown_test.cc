#include "harness/report/markdown.h"

#include <gtest/gtest.h>

namespace torch_ir {
namespace {

TEST(MarkdownTest, EscapesWhatWouldBeMarkup) {
  EXPECT_EQ(escape_markdown("Shared backbone + heads (1.5x)"), "Shared backbone + heads (1.5x)");
  EXPECT_EQ(escape_markdown("a_b *c* `d` [e](f) <g> #1 @h $i$ &amp; \\"),
            "a\\_b \\*c\\* \\`d\\` \\[e\\](f) \\<g\\> \\#1 \\@h \\$i\\$ \\&amp; \\\\");
  EXPECT_EQ(escape_markdown("- no list"), "\\- no list");
  EXPECT_EQ(escape_markdown("two\nlines"), "two lines");
  EXPECT_EQ(escape_markdown("\x1b[31m\xff"), "\\\\x1b\\[31m\\\\xff");
}

TEST(MarkdownTest, CodeSpansHoldAnyText) {
  EXPECT_EQ(code_span("a*b"), "`a*b`");
  EXPECT_EQ(code_span(""), "");
  EXPECT_EQ(code_span("a`b"), "``a`b``");
  EXPECT_EQ(code_span("`a``"), "``` `a`` ```");
  EXPECT_EQ(code_span(" a "), "`  a  `");
  EXPECT_EQ(code_span("two\nlines"), "`two lines`");
  EXPECT_EQ(code_span("\x1b[31m\x07"), "`\\x1b[31m\\x07`");
}

TEST(MarkdownTest, BarsDoNotCutCells) {
  EXPECT_EQ(table_cell(code_span("a|b")), "`a\\|b`");
  EXPECT_EQ(table_cell(escape_markdown("a|b\\|c")), "a\\|b\\\\\\|c");
}

TEST(MarkdownTest, CodeBlocksHoldAnyText) {
  EXPECT_EQ(code_block("x", "cpp"), "```cpp\nx\n```\n");
  EXPECT_EQ(code_block("x\n"), "```\nx\n```\n");
  EXPECT_EQ(code_block("```\nx\n```\n"), "````\n```\nx\n```\n````\n");
  EXPECT_EQ(code_block(""), "```\n```\n");
  EXPECT_EQ(code_block("a\x1b[31m\nb\x07"), "```\na\\x1b[31m\nb\\x07\n```\n");
}

}  // namespace
}  // namespace torch_ir
