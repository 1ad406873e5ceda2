#include "torch_ir/visualize/mermaid_label.h"

#include <gtest/gtest.h>

namespace torch_ir {
namespace {

TEST(MermaidLabel, LeavesOrdinaryTextAlone) {
  for (const char* text :
       {"Input: x", "1x16x64", "mul.Tensor", "p_linear_weight", "relu_", "_softmax", "add_.Tensor",
        "a/b (c), d?", "가중치", "out 1: 1x4", "... 3 more nodes ...", "2d"}) {
    EXPECT_EQ(mermaid_label(text), text);
  }
}

TEST(MermaidLabel, WritesQuotesAndHashesAsEntityCodes) {
  EXPECT_EQ(mermaid_label("a\"b"), "a#quot;b");
  EXPECT_EQ(mermaid_label("#1"), "#35;1");
  EXPECT_EQ(mermaid_label("a;b"), "a#59;b");
}

TEST(MermaidLabel, WritesHtmlAsText) {
  EXPECT_EQ(mermaid_label("<built-in function getitem>"), "#60;built-in function getitem#62;");
  EXPECT_EQ(mermaid_label("&lt"), "#38;lt");
}

TEST(MermaidLabel, WritesBackslashesAsText) { EXPECT_EQ(mermaid_label("a\\n"), "a#92;n"); }

TEST(MermaidLabel, StartsNoMarkdown) {
  EXPECT_EQ(mermaid_label("`code`"), "#96;code#96;");
  EXPECT_EQ(mermaid_label("1. one"), "1#46; one");
  EXPECT_EQ(mermaid_label("12) one"), "12#41; one");
  EXPECT_EQ(mermaid_label("- one"), "#45; one");
  EXPECT_EQ(mermaid_label(" - one"), " #45; one");
  EXPECT_EQ(mermaid_label("* one"), "#42; one");
  EXPECT_EQ(mermaid_label("> one"), "#62; one");
  EXPECT_EQ(mermaid_label("a **b** ~~c~~"), "a #42;#42;b#42;#42; #126;#126;c#126;#126;");
  EXPECT_EQ(mermaid_label("[a](b)"), "#91;a#93;(b)");
}

TEST(MermaidLabel, StartsNoEmphasis) {
  EXPECT_EQ(mermaid_label("__init__"), "#95;#95;init#95;#95;");
  EXPECT_EQ(mermaid_label("_a_b_"), "#95;a_b#95;");
  EXPECT_EQ(mermaid_label("___"), "#95;#95;#95;");
}

TEST(MermaidLabel, MakesNoLinksAndNoDirectives) {
  EXPECT_EQ(mermaid_label("https://a"), "https#58;//a");
  EXPECT_EQ(mermaid_label("www.a.b"), "www#46;a.b");
  EXPECT_EQ(mermaid_label("a@b.c"), "a#64;b.c");
  EXPECT_EQ(mermaid_label("fa:fa-car"), "fa#58;fa-car");
  EXPECT_EQ(mermaid_label("%%{init}%%"), "#37;#37;#123;init#125;#37;#37;");
  EXPECT_EQ(mermaid_label("$$x$$"), "#36;#36;x#36;#36;");
}

}  // namespace
}  // namespace torch_ir
