#include "torch_ir/cli/run_cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "torch_ir/cli/command.h"

namespace torch_ir {
namespace {

using testing::HasSubstr;

struct RunOutcome {
  int status;
  std::string out;
  std::string err;
};

RunOutcome run(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const int status = run_cli(arguments, out, err);
  return {status, out.str(), err.str()};
}

void expect_usage_error(const std::vector<std::string>& arguments, const std::string& message) {
  const RunOutcome outcome = run(arguments);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "torch-ir: " + message + "\n");
}

TEST(RunCli, PrintsHelpForEveryCommand) {
  const RunOutcome help = run({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(help.err, "");
  for (const Command& command : all_commands()) {
    EXPECT_THAT(help.out, HasSubstr("  " + command.name + " "));
    EXPECT_THAT(help.out, HasSubstr(command.summary + "\n"));
    const RunOutcome own = run({command.name, "--help"});
    EXPECT_EQ(own.status, 0);
    EXPECT_THAT(own.out, HasSubstr("Usage: torch-ir " + command.name + " "));
    EXPECT_THAT(own.out, HasSubstr("Examples:\n  torch-ir " + command.name + " "));
    EXPECT_THAT(own.out, HasSubstr("--quiet"));
  }
}

TEST(RunCli, PrintsItsVersion) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--version"}, {"info", "--version"}}) {
    const RunOutcome version = run(arguments);
    EXPECT_EQ(version.status, 0);
    EXPECT_THAT(version.out, testing::MatchesRegex("torch-ir [0-9.]+ \\(LibTorch [0-9.]+.*\\)\n"));
  }
}

TEST(RunCli, WantsACommand) {
  expect_usage_error({}, "a command is missing (see 'torch-ir --help')");
  expect_usage_error({"--json"}, "'--json' without a command (see 'torch-ir --help')");
}

TEST(RunCli, SuggestsACommand) {
  expect_usage_error(
      {"vizualise", "m.json"},
      "unknown command 'vizualise'; did you mean 'visualize'? (see 'torch-ir --help')");
  expect_usage_error({"frobnicate"}, "unknown command 'frobnicate' (see 'torch-ir --help')");
}

TEST(RunCli, SuggestsAnOption) {
  expect_usage_error({"info", "m.json", "--jsn"},
                     "unknown option '--jsn'; did you mean '--json'? (see 'torch-ir info --help')");
  expect_usage_error({"compare", "a", "b", "--rto=1"},
                     "unknown option '--rto'; did you mean '--rtol'? "
                     "(see 'torch-ir compare --help')");
  expect_usage_error({"info", "m.json", "--frobnicate"},
                     "unknown option '--frobnicate' (see 'torch-ir info --help')");
}

TEST(RunCli, WantsEveryArgumentOnce) {
  expect_usage_error({"info"}, "FILE is required (see 'torch-ir info --help')");
  expect_usage_error({"info", "a.json", "b.json"},
                     "unexpected argument 'b.json' (see 'torch-ir info --help')");
  expect_usage_error({"execute", "m.json", "--outputs", "y"},
                     "--inputs is required (see 'torch-ir execute --help')");
  expect_usage_error({"info", "a.json", "-o"},
                     "--output needs a value (see 'torch-ir info --help')");
  expect_usage_error({"info", "a.json", "-o", "b", "-o", "c"},
                     "--output is given more than once (see 'torch-ir info --help')");
  expect_usage_error({"info", "a.json", "-o", "--json"},
                     "--output needs a value (see 'torch-ir info --help')");
  expect_usage_error({"compare", "a", "b", "--rtol", "--atol", "1"},
                     "--rtol needs a value (see 'torch-ir compare --help')");
}

TEST(RunCli, TakesOptionsBeforeTheCommand) {
  const RunOutcome help = run({"--help", "info"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, HasSubstr("Usage: torch-ir info "));
}

TEST(RunCli, PutsMessagesOnOneLine) {
  expect_usage_error({"in\n\tfo\x1B[1m"}, "unknown command 'in fo [1m' (see 'torch-ir --help')");
}

TEST(RunCli, SaysNoMoreThanAPersonReads) {
  const std::string err = run({std::string(5000, 'x')}).err;
  EXPECT_LE(err.size(), 401);
  EXPECT_THAT(err, testing::EndsWith("xx' (see 'torch-ir --help')\n"));
}

TEST(RunCli, FailsWhenItCannotPrint) {
  std::ofstream full("/dev/full");
  if (!full) GTEST_SKIP() << "this system has no /dev/full";
  std::ostringstream err;
  EXPECT_EQ(run_cli({"--version"}, full, err), 2);
  EXPECT_EQ(err.str(), "torch-ir: cannot write to the standard output\n");
}

}  // namespace
}  // namespace torch_ir
