#include "torch_ir/visualize/labels.h"

#include <gtest/gtest.h>

#include <utility>

namespace torch_ir {
namespace {

TEST(PrintableName, KeepsOrdinaryNamesOfAnyAlphabet) {
  EXPECT_EQ(printable_name("p_encoder_0_weight"), "p_encoder_0_weight");
  EXPECT_EQ(printable_name("가중치 é 🙂"), "가중치 é 🙂");
}

TEST(PrintableName, MakesOneLineOfControlCharacters) {
  EXPECT_EQ(printable_name("a\nb\tc\x7F"
                           "d"),
            "a b c d");
  EXPECT_EQ(printable_name("a\xC2\x85"
                           "b"),
            "a b");  // U+0085, next line
  EXPECT_EQ(printable_name(std::string_view("a\0b", 3)), "a b");
}

TEST(PrintableName, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(printable_name("a\xFF"
                           "b"),
            "a\uFFFDb");
  EXPECT_EQ(printable_name("\xC3"), "\uFFFD");                                // cut short
  EXPECT_EQ(printable_name("\xC0\xAF"), "\uFFFD\uFFFD");                      // overlong
  EXPECT_EQ(printable_name("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");            // a surrogate
  EXPECT_EQ(printable_name("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // above U+10FFFF
}

TEST(PrintableName, CutsLongNamesBetweenCharacters) {
  EXPECT_EQ(printable_name(std::string(100, 'x')), std::string(100, 'x'));
  EXPECT_EQ(printable_name(std::string(101, 'x')), std::string(100, 'x') + "...");
  std::string umlauts;
  std::string cut;
  for (int i = 0; i < 150; ++i) {
    umlauts += "ü";
    if (i < 100) cut += "ü";
  }
  EXPECT_EQ(printable_name(umlauts), cut + "...");
}

// Markdown takes four spaces before a text for code, and two behind it for a line break.
TEST(PrintableName, LeavesOutSpacesAround) { EXPECT_EQ(printable_name("    a b \n"), "a b"); }

TEST(PrintableName, NamesWhatCannotBeSeen) {
  EXPECT_EQ(printable_name(""), "(no name)");
  EXPECT_EQ(printable_name(" \n "), "(no name)");
}

TEST(OperatorLabel, LeavesOutTheUsualNamespaceAndOverload) {
  EXPECT_EQ(operator_label("aten.linear.default"), "linear");
  EXPECT_EQ(operator_label("aten.mul.Tensor"), "mul.Tensor");
}

TEST(OperatorLabel, KeepsOtherNamespaces) {
  EXPECT_EQ(operator_label("torchvision.nms.default"), "torchvision.nms");
  EXPECT_EQ(operator_label("prims.mul.Tensor"), "prims.mul.Tensor");
  EXPECT_EQ(operator_label("<built-in function getitem>"), "<built-in function getitem>");
}

TEST(OperatorLabel, IsNeverEmpty) {
  EXPECT_EQ(operator_label("aten."), "aten.");
  EXPECT_EQ(operator_label("aten..default"), "aten..default");
}

TEST(Identifiers, AreMadeOfLettersDigitsAndUnderscores) {
  EXPECT_EQ(Identifiers().make("op_", "linear_1"), "op_linear_1");
  EXPECT_EQ(Identifiers().make("op_", "a.b-c\"é"), "op_a_b_c___");
}

TEST(Identifiers, AreDifferentWhereNamesAre) {
  Identifiers ids;
  EXPECT_EQ(ids.make("op_", "a.b"), "op_a_b");
  EXPECT_EQ(ids.make("op_", "a_b_2"), "op_a_b_2");
  EXPECT_EQ(ids.make("op_", "a_b"), "op_a_b_3");
  EXPECT_NE(ids.make("op_", std::string(200, 'x') + "1"),
            ids.make("op_", std::string(200, 'x') + "2"));
}

TEST(MermaidLabel, LeavesOrdinaryTextAlone) {
  for (const char* text :
       {"Input: x", "1x16x64", "mul.Tensor", "p_linear_weight", "relu_", "_softmax", "add_.Tensor",
        "a/b (c), d?", "가중치", "out 1: 1x4", "... 3 more nodes ...", "2d"}) {
    EXPECT_EQ(mermaid_label(text), text);
  }
}

TEST(MermaidLabel, WritesWhatMermaidWouldReadAsEntityCodes) {
  const std::pair<const char*, const char*> labels[] = {
      {"a\"b", "a#quot;b"},
      {"#1", "#35;1"},
      {"a;b", "a#59;b"},
      {"<built-in function getitem>", "#60;built-in function getitem#62;"},
      {"&lt", "#38;lt"},
      {"a\\n", "a#92;n"},
      // Markdown.
      {"`code`", "#96;code#96;"},
      {"1. one", "1#46; one"},
      {"12) one", "12#41; one"},
      {"- one", "#45; one"},
      {" - one", " #45; one"},
      {"* one", "#42; one"},
      {"> one", "#62; one"},
      {"a **b** ~~c~~", "a #42;#42;b#42;#42; #126;#126;c#126;#126;"},
      {"[a](b)", "#91;a#93;(b)"},
      {"__init__", "#95;#95;init#95;#95;"},
      {"_a_b_", "#95;a_b#95;"},
      {"___", "#95;#95;#95;"},
      // Links and directives.
      {"https://a", "https#58;//a"},
      {"www.a.b", "www#46;a.b"},
      {"a@b.c", "a#64;b.c"},
      {"fa:fa-car", "fa#58;fa-car"},
      {"%%{init}%%", "#37;#37;#123;init#125;#37;#37;"},
      {"$$x$$", "#36;#36;x#36;#36;"},
  };
  for (const auto& [text, label] : labels) EXPECT_EQ(mermaid_label(text), label);
}

}  // namespace
}  // namespace torch_ir
