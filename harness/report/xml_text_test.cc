#include "harness/report/xml_text.h"

#include <gtest/gtest.h>

#include <string>

namespace torch_ir {
namespace {

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
