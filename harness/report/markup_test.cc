#include "harness/report/markup.h"

#include <gtest/gtest.h>

namespace torch_ir {
namespace {

TEST(MarkdownTest, EscapesWhatWouldBeMarkup) {
  EXPECT_EQ(escape_markdown("Shared backbone + heads (1.5x)"), "Shared backbone + heads (1.5x)");
  EXPECT_EQ(escape_markdown("a_b *c* `d` [e](f) <g> #1 @h $i$ &amp; \\"),
            "a\\_b \\*c\\* \\`d\\` \\[e\\](f) \\<g\\> \\#1 \\@h \\$i\\$ \\&amp; \\\\");
  EXPECT_EQ(escape_markdown("- no list"), "\\- no list");
  EXPECT_EQ(escape_markdown("two\nlines"), "two lines");
}

TEST(MarkdownTest, CodeSpansHoldAnyTextAndBarsDoNotCutCells) {
  EXPECT_EQ(code_span("a*b"), "`a*b`");
  EXPECT_EQ(code_span(""), "");
  EXPECT_EQ(code_span("a`b"), "``a`b``");
  EXPECT_EQ(code_span("`a``"), "``` `a`` ```");
  EXPECT_EQ(code_span(" a "), "`  a  `");
  EXPECT_EQ(code_span("two\nlines"), "`two lines`");
  EXPECT_EQ(code_span("\x1b[31m\x07"), "`\\x1b[31m\\x07`");
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

TEST(ShownTextTest, KeepsLinesAndEscapesWhatATerminalWouldObey) {
  EXPECT_EQ(shown_text("\x1b[31mred\x07\r\n\tand a tab"), "\\x1b[31mred\\x07\\x0d\n\tand a tab");
  EXPECT_EQ(shown_text("caf\u00e9 \xff \u202e \xe2\x82"),
            "caf\u00e9 \\xff \\xe2\\x80\\xae \\xe2\\x82");
  const std::string text(10'000, 'x');
  EXPECT_EQ(shown_text(text), text);
}

TEST(AsSentenceTest, HasACapitalUnlessItBeginsWithANameAndAFullStop) {
  EXPECT_EQ(as_sentence("no reproducer, since all is well"), "No reproducer, since all is well.");
  EXPECT_EQ(as_sentence("seed: 0 -> 7"), "Seed: 0 -> 7.");
  EXPECT_EQ(as_sentence("Is it?\n"), "Is it?");
  EXPECT_EQ(as_sentence(""), "");
  EXPECT_EQ(as_sentence("oneDNN: 3.5 -> 3.6"), "oneDNN: 3.5 -> 3.6.");
  EXPECT_EQ(as_sentence("aten::add failed"), "aten::add failed.");
}

TEST(XmlTextTest, MarkupAndWhatXmlCanNotHoldAreEscaped) {
  EXPECT_EQ(xml_text("a < b && 'c'\n\t]]>\"d\""), "a &lt; b &amp;&amp; 'c'\n\t]]&gt;\"d\"");
  // Line breaks of attributes survive the parser.
  EXPECT_EQ(xml_attribute("<\"'>\n\t"), "&lt;&quot;'&gt;&#10;&#9;");
  EXPECT_EQ(xml_text(std::string("\0\x01\x1b[31m\r\x7f", 9)), "\\x00\\x01\\x1b[31m\\x0d\\x7f");
  EXPECT_EQ(xml_text("\ufffe\uffff\ufffd"), "\\xef\\xbf\\xbe\\xef\\xbf\\xbf\ufffd");
  // Bytes that are no UTF-8 take nothing with them.
  EXPECT_EQ(xml_text("&\x80<\xff>"), "&amp;\\x80&lt;\\xff&gt;");
  EXPECT_EQ(xml_text("\xef\xbf\xbe\x80"), "\\xef\\xbf\\xbe\\x80");
  EXPECT_EQ(xml_text("caf\xc3"), "caf\\xc3");
}

}  // namespace
}  // namespace torch_ir
