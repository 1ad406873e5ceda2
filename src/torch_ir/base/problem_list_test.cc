#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/terminal.h"
#include "torch_ir/base/text.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
}

}  // namespace
}  // namespace torch_ir
