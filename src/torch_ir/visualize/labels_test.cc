#include "torch_ir/visualize/labels.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace torch_ir {
namespace {

using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

TEST(PrintableName, IsOneShortLineOfWhatCanBeSeen) {
  const Pairs names = {
      {"p_encoder_0_weight", "p_encoder_0_weight"},
      {"가중치 é 🙂", "가중치 é 🙂"},
      // Control characters, U+0085 (next line) among them.
      {"a\nb\tc\177d", "a b c d"},
      {"a\xC2\205b", "a b"},
      {std::string_view("a\0b", 3), "a b"},
      // Invalid UTF-8: truncated, overlong, a surrogate, above U+10FFFF.
      {"a\377b", "a\uFFFDb"},
      {"\xC3", "\uFFFD"},
      {"\xC0\xAF", "\uFFFD\uFFFD"},
      {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},
      {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
      // Markdown takes four spaces before a text for code, and two after it for a line break.
      {"    a b \n", "a b"},
      {"", "(no name)"},
      {" \n ", "(no name)"},
  };
  for (const auto& [name, printed] : names) EXPECT_EQ(printable_name(name), printed);
  for (const std::string character : {"x", "ü"}) {
    std::string name;
    for (int i = 0; i < 100; ++i) name += character;
    EXPECT_EQ(printable_name(name), name);
    EXPECT_EQ(printable_name(name + character), name + "...");
  }
}

TEST(OperatorLabel, LeavesOutTheUsualNamespaceAndOverload) {
  const Pairs labels = {{"aten.linear.default", "linear"},
                        {"aten.mul.Tensor", "mul.Tensor"},
                        {"torchvision.nms.default", "torchvision.nms"},
                        {"prims.mul.Tensor", "prims.mul.Tensor"},
                        {"<built-in function getitem>", "<built-in function getitem>"},
                        // Never empty.
                        {"aten.", "aten."},
                        {"aten..default", "aten..default"}};
  for (const auto& [op_type, label] : labels) EXPECT_EQ(operator_label(op_type), label);
}

TEST(Identifiers, AreMadeOfLettersAndDifferentWhereNamesAre) {
  EXPECT_EQ(Identifiers().make("op_", "linear_1"), "op_linear_1");
  EXPECT_EQ(Identifiers().make("op_", "a.b-c\"é"), "op_a_b_c___");
  Identifiers ids;
  EXPECT_EQ(ids.make("op_", "a.b"), "op_a_b");
  EXPECT_EQ(ids.make("op_", "a_b_2"), "op_a_b_2");
  EXPECT_EQ(ids.make("op_", "a_b"), "op_a_b_3");
  EXPECT_NE(ids.make("op_", std::string(200, 'x') + "1"),
            ids.make("op_", std::string(200, 'x') + "2"));
}

TEST(MermaidLabel, WritesOnlyWhatMermaidWouldReadAsEntityCodes) {
  for (const char* text :
       {"Input: x", "1x16x64", "mul.Tensor", "p_linear_weight", "relu_", "_softmax", "add_.Tensor",
        "a/b (c), d?", "가중치", "out 1: 1x4", "... 3 more nodes ...", "2d"}) {
    EXPECT_EQ(mermaid_label(text), text);
  }
  const Pairs labels = {
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
