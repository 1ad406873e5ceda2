#include "harness/report/markup.h"

#include <gtest/gtest.h>

#include <string>

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

TEST(XmlTextTest, OrdinaryTextStays) {
  const std::string text = "a 'b' caf\u00e9 \u5f20 \U0001f525\n\tc";
  EXPECT_EQ(xml_text(text), text);
  EXPECT_EQ(xml_text(""), "");
  EXPECT_EQ(xml_text("say \"x\""), "say \"x\"");
}

TEST(XmlTextTest, MarkupIsEscaped) {
  EXPECT_EQ(xml_text("a < b && c]]>d"), "a &lt; b &amp;&amp; c]]&gt;d");
  EXPECT_EQ(xml_attribute("<\"'>"), "&lt;&quot;'&gt;");
}

TEST(XmlTextTest, LineBreaksOfAttributesSurviveTheParser) {
  EXPECT_EQ(xml_attribute("a\nb\tc"), "a&#10;b&#9;c");
}

TEST(XmlTextTest, WhatXmlCanNotHoldIsEscaped) {
  EXPECT_EQ(xml_text(std::string("\0\x01\x1b[31m\r\x7f", 9)), "\\x00\\x01\\x1b[31m\\x0d\\x7f");
  EXPECT_EQ(xml_text("\ufffe\uffff\ufffd"), "\\xef\\xbf\\xbe\\xef\\xbf\\xbf\ufffd");
}

TEST(XmlTextTest, BytesThatAreNoUtf8TakeNothingWithThem) {
  EXPECT_EQ(xml_text("&\x80<\xff>"), "&amp;\\x80&lt;\\xff&gt;");
  EXPECT_EQ(xml_text("\xe2\x82<"), "\\xe2\\x82&lt;");
  EXPECT_EQ(xml_text("\xef\xbf\xbe\x80"), "\\xef\\xbf\\xbe\\x80");
  EXPECT_EQ(xml_text("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(xml_text("caf\xc3"), "caf\\xc3");
}

}  // namespace
}  // namespace torch_ir
