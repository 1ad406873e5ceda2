#include "torch_ir/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "torch_ir/base/terminal.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TextTest, WritesNumbersAndLists) {
  EXPECT_EQ(with_thousands_separators(0), "0");
  EXPECT_EQ(with_thousands_separators(999), "999");
  EXPECT_EQ(with_thousands_separators(1000), "1,000");
  EXPECT_EQ(with_thousands_separators(57'617), "57,617");
  EXPECT_EQ(with_thousands_separators(100'000'000'000), "100,000,000,000");
  EXPECT_EQ(with_thousands_separators(-123), "-123");
  EXPECT_EQ(with_thousands_separators(-1234), "-1,234");
  EXPECT_EQ(with_thousands_separators(std::numeric_limits<int64_t>::min()),
            "-9,223,372,036,854,775,808");
  EXPECT_EQ(counted(0, "node"), "0 nodes");
  EXPECT_EQ(counted(1, "node"), "1 node");
  EXPECT_EQ(counted(2000, "node"), "2,000 nodes");
  EXPECT_EQ(listed({}, 2), "");
  EXPECT_EQ(listed({"a", "b"}, 2), "a, b");
  EXPECT_EQ(listed({"a", "b", "c", "d"}, 2), "a, b and 2 more");
  EXPECT_EQ(listed({"a", "b"}, 2, 5), "a, b and 3 more");
}

TEST(ProblemListTest, SeveralAreCountedAndListed) {
  EXPECT_EQ(problem_list({"a", "b", "c"}, "the inputs"),
            "3 problems with the inputs:\n  a\n  b\n  c");
}

TEST(ProblemListTest, IsFoundInMessagesAndPrintedALineForEachProblem) {
  EXPECT_THAT(lines_of_problem_list("model.json: " + problem_list({"a", "b"}, "the inputs")),
              ElementsAre("model.json: 2 problems with the inputs:", "a", "b"));
  for (const char* message : {"", "what", "what:", "what\nwhere", "what:\nwhere",
                              "what:\n  where\nwhen", "  what:\n  it", "what\n  where"}) {
    EXPECT_THAT(lines_of_problem_list(message), IsEmpty()) << message;
  }
  EXPECT_EQ(message_line("tool", problem_list({"a\tb", "c"}, "the inputs")),
            "tool: 2 problems with the inputs:\n  a b\n  c\n");
  EXPECT_EQ(message_line("tool", "what\nwhere"), "tool: what where\n");
}

}  // namespace
}  // namespace torch_ir
