#include <c10/util/StringUtil.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "harness/regression/reference_pages.h"
#include "torch_ir/base/error.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A graph of one operator on one input.
std::string graph(const std::string& op_type, const std::string& version) {
  TestGraphBuilder builder("M");
  IR ir = builder.input("x", {2}).op("y", op_type, {"x"}, {2}).output("y").build();
  ir.pytorch_version = version;
  return serialize_ir(ir);
}

TEST(GoldenTest, AGraphThatDiffersNamesWhatChanged) {
  const std::string difference =
      graph_difference(graph("aten.relu.default", "2.6.0"), graph("aten.tanh.default", "2.13.0"));
  EXPECT_THAT(difference, StartsWith("1 operator replaced\noperator replaced: y "));
  EXPECT_THAT(difference, EndsWith("aten.relu.default -> aten.tanh.default\n"));
  std::string spaced = graph("aten.relu.default", "2.6.0");
  spaced.insert(1, "\n\n   ");
  EXPECT_EQ(graph_difference(spaced, graph("aten.relu.default", "2.13.0")), "");
  std::string renamed = graph("aten.relu.default", "2.6.0");
  c10::ReplaceAll(renamed, "\"y\"", "\"z\"");
  EXPECT_THAT(graph_difference(graph("aten.relu.default", "2.6.0"), renamed),
              HasSubstr("operator renamed: y -> z\n"));
  EXPECT_THROW(graph_difference("{}", graph("aten.relu.default", "2.6.0")), Error);
}

TEST(GoldenTest, APageThatDiffersShowsTheChangedLines) {
  EXPECT_EQ(page_difference("a\nb\nc\nd\n", "a\nb\nX\nY\nd\n"), "line 3:\n-c\n+X\n+Y\n");
  EXPECT_EQ(page_difference("a\nb\n", "a\nb\nc\n"), "line 3:\n+c\n");
  EXPECT_EQ(page_difference("a\na\n", "a\n"), "line 2:\n-a\n");
  std::string now;
  for (int i = 0; i < 100; ++i) now += "new\n";
  EXPECT_THAT(page_difference("old\n", now), HasSubstr("+... 88 more lines\n"));
  EXPECT_EQ(page_difference("a\n", "\x1b[2J\n"), "line 1:\n-a\n+\\x1b[2J\n");
}

TEST(GoldenTest, APageIsTheSameWithinTheToleranceAndOnAnotherMachine) {
  EXPECT_EQ(page_difference("max 0", "max 1.2e-07"), "");
  EXPECT_EQ(page_difference("| 3e-05 | 1.04 |", "| 3.5e-05 | 1.05 |"), "");
  EXPECT_NE(page_difference("max 0", "max 0.1"), "");
  EXPECT_NE(page_difference("max 0", "max 0, rtol"), "");
  EXPECT_NE(page_difference("2000 nodes", "2001 nodes"), "");
  EXPECT_EQ(page_difference("| `2.13.0` | `exact` |\n\nDetails of the build: BLAS `mkl`.\n## End\n",
                            "| `2.12.1+cpu` | `exact` |\n## End\n"),
            "");
  EXPECT_EQ(page_difference("# A\n", "# A\n#### `add`\n\nWorst element\n"), "");
  EXPECT_NE(page_difference("# A\n## B\n", "# A\n#### `add`\n\nWorst element\n"), "");
}

TEST(GoldenTest, AnSnrOfTheLastBitsIsLikeAnother) {
  const auto page = [](const std::string& snr, const std::string& similarity = "1") {
    return "| [A](A.md) | 100 | 1 | 0 | " + snr + " | " + similarity + " | 0 | 1 |\n";
  };
  EXPECT_EQ(page_difference(page("inf"), page("146", "0.999999999")), "");
  EXPECT_EQ(page_difference(page("146.2", "0.999999999"), page("inf")), "");
  EXPECT_EQ(page_difference(page("139"), page("146")), "");
  EXPECT_EQ(page_difference(page("40.1"), page("40.2")), "");
  EXPECT_NE(page_difference(page("inf"), page("60")), "");
  EXPECT_NE(page_difference(page("60"), page("inf")), "");
  EXPECT_NE(page_difference(page("40.1"), page("41.1")), "");
  EXPECT_NE(page_difference(page("inf"), page("inf", "0.9")), "");
  EXPECT_NE(page_difference("SNR inf", "SNR 146"), "");
  const auto row = [](const std::string& figures, const std::string& verdict) {
    return "| 24 | `n` | `aten.exp.default` | 0 | 64 | " + figures +
           " | rtol 1e-05, atol 1e-08 | " + verdict + " |\n";
  };
  const std::string equal = row("0 | 0 | inf | 0 | 0", "equal");
  EXPECT_EQ(page_difference(equal, row("3e-07 | 6e-09 | 152 | 0 | 1e-07", "within the tolerance")),
            "");
  EXPECT_NE(page_difference(equal, row("3e-07 | 6e-09 | 60 | 0 | 1e-07", "within the tolerance")),
            "");
  EXPECT_NE(page_difference(equal, row("0 | 0 | inf | 0 | 0", "right by its own error")), "");
}

}  // namespace
}  // namespace torch_ir
