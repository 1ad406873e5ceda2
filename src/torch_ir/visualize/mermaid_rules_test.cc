#include "torch_ir/visualize/testing/mermaid_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torch_ir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> check_flowchart(const std::string& body) {
  return check_mermaid("flowchart TD\n" + body);
}

// A flowchart of one box with this label.
std::vector<std::string> check_label(const std::string& label) {
  return check_flowchart("    a[\"" + label + "\"]\n");
}

std::vector<std::string> check_pie(const std::string& body) {
  return check_mermaid("pie showData\n" + body);
}

std::string repeat(const std::string& text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

TEST(CheckMermaid, AcceptsAFlowchart) {
  EXPECT_THAT(check_flowchart("    in[/\"Input: x<br/>1x4\"/]\n"
                              "    op_end[\"#quot;a#quot; (b) \\ #35;\"]\n"
                              "    in -->|\"1x4\"| op_end\n"
                              "    out[\\\"Output\"/]\n"
                              "    op_end -.-> out\n"),
              IsEmpty());
}

TEST(CheckMermaid, AcceptsAPie) {
  EXPECT_THAT(check_pie("    \"conv2d\" : 7\n    \"relu\" : 2.5\n"), IsEmpty());
  EXPECT_THAT(check_mermaid("pie showData title Nothing\n"), IsEmpty());
}

TEST(CheckMermaid, CountsEdges) {
  const std::string boxes = "    a[\"a\"]\n    b[\"b\"]\n";
  EXPECT_THAT(check_flowchart(boxes + repeat("    a --> b\n", 500)), IsEmpty());
  EXPECT_THAT(check_flowchart(boxes + repeat("    a --> b\n", 501)),
              ElementsAre("501 edges, more than 500"));
}

TEST(CheckMermaid, CountsCharactersAsJavaScriptDoes) {
  // "flowchart TD\n    a[\"" and "\"]\n" are 23 characters.
  EXPECT_THAT(check_label(repeat("é", 49'977)), IsEmpty());
  EXPECT_THAT(check_label(repeat("é", 49'978)), ElementsAre("50001 characters, more than 50000"));
  EXPECT_THAT(check_label(repeat("🙂", 24'989)), ElementsAre("50001 characters, more than 50000"));
}

TEST(CheckMermaid, RefusesLabelsThatAreNotDrawnAsText) {
  EXPECT_THAT(check_label("a #1"), ElementsAre("'#' outside of an entity code: 'a #1'"));
  EXPECT_THAT(check_label("`a`"), ElementsAre("Markdown code: '`a`'"));
  EXPECT_THAT(check_label("1. a"), ElementsAre("a Markdown list: '1. a'"));
  EXPECT_THAT(check_label("a<br/>- b"), ElementsAre("a Markdown list: '- b'"));
  EXPECT_THAT(check_label("> a"), ElementsAre("a Markdown quotation: '> a'"));
  EXPECT_THAT(check_label("a <b>"), ElementsAre("'<' in a label: 'a <b>'"));
  EXPECT_THAT(check_label(""), ElementsAre("an empty line in a label: ''"));
}

TEST(CheckMermaid, RefusesSlicesThatAreNotDrawn) {
  EXPECT_THAT(check_pie("    \"a\\b\" : 1\n"),
              ElementsAre("a backslash in a label of a pie: 'a\\b'"));
  EXPECT_THAT(check_pie("    \"a\" : 1\n    \"a\" : 2\n"), ElementsAre("a second slice: 'a'"));
  EXPECT_THAT(check_pie("    \"a\" : 1\n    \"b\" : 200\n"),
              ElementsAre("a slice under one percent is not drawn: 'a'"));
  EXPECT_THAT(check_pie("    \"a\" : 200\n    \"Others\" : 1\n"), IsEmpty());
}

}  // namespace
}  // namespace torch_ir
