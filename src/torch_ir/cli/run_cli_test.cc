#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "torch_ir/cli/command.h"
#include "torch_ir/cli/testing/test_support.h"

namespace torch_ir {
namespace {

using testing::HasSubstr;

using RunCli = CliTest;

TEST_F(RunCli, PrintsHelpThatFitsATerminalForEveryCommand) {
  const std::string help = printed({"--help"});
  std::vector<std::string> pages = {help};
  for (const Command& command : all_commands()) {
    EXPECT_THAT(help, HasSubstr("  " + command.name + " "));
    EXPECT_THAT(help, HasSubstr(command.summary + "\n"));
    pages.push_back(printed({command.name, "--help"}));
    EXPECT_THAT(pages.back(), HasSubstr("Usage: torch-ir " + command.name + " "));
    EXPECT_THAT(pages.back(), HasSubstr("Examples:\n  torch-ir " + command.name + " "));
    EXPECT_THAT(pages.back(), HasSubstr("--quiet"));
  }
  for (const std::string& page : pages) {
    EXPECT_THAT(page, testing::EndsWith("\nMore: docs/command-line.md\n"));
    EXPECT_LT(page.find("Examples:\n"), page.find("Usage: "));
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 100) << line;
      // The description of an option follows its name.
      EXPECT_FALSE(line.starts_with(std::string(20, ' '))) << line;
    }
  }
}

TEST_F(RunCli, PrintsItsVersion) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--version"}, {"info", "--version"}}) {
    EXPECT_THAT(printed(arguments),
                testing::MatchesRegex("torch-ir [0-9.]+ \\(LibTorch [0-9.]+.*\\)\n"));
  }
}

TEST_F(RunCli, RefusesWhatItDoesNotKnowInOneLine) {
  // ParseArgumentsTest has the errors of arguments.
  expect_refused(torch_ir({}), "a command is missing (see 'torch-ir --help')");
  expect_refused(torch_ir({"--json"}), "'--json' without a command (see 'torch-ir --help')");
  expect_refused(torch_ir({"vizualise", "m.json"}),
                 "unknown command 'vizualise'; did you mean 'visualize'? (see 'torch-ir --help')");
  expect_refused(torch_ir({"info", "m.json", "--jsn"}),
                 "unknown option '--jsn'; did you mean '--json'? (see 'torch-ir info --help')");
  expect_refused(torch_ir({"info"}), "FILE is required (see 'torch-ir info --help')");
  expect_refused(torch_ir({"execute", "m.json", "--outputs", "y"}),
                 "--inputs is required (see 'torch-ir execute --help')");
  expect_refused(torch_ir({"in\n\tfo\x1B[1m"}),
                 "unknown command 'in fo [1m' (see 'torch-ir --help')");
  const std::string err = torch_ir({std::string(5000, 'x')}).err;
  EXPECT_LE(err.size(), 401);
  EXPECT_THAT(err, testing::EndsWith("xx' (see 'torch-ir --help')\n"));
  EXPECT_THAT(printed({"--help", "info"}), HasSubstr("Usage: torch-ir info "));
}

TEST_F(RunCli, FailsWhenItCannotPrint) {
  std::ofstream full("/dev/full");
  if (!full) GTEST_SKIP() << "this system has no /dev/full";
  std::ostringstream err;
  EXPECT_EQ(run_cli({"--version"}, full, err), 2);
  EXPECT_EQ(err.str(), "torch-ir: cannot write to the standard output\n");
}

}  // namespace
}  // namespace torch_ir
