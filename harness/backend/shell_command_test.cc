#include "harness/backend/shell_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

CommandEnd run_line(const std::string& line) {
  return run_shell_command(line, ::testing::TempDir());
}

TEST(ShellCommandTest, TellsSuccessAndWhatWasPrinted) {
  const CommandEnd end = run_line("echo out; echo err >&2");
  EXPECT_TRUE(end.succeeded);
  EXPECT_EQ(end.output, "out\nerr\n");
}

TEST(ShellCommandTest, TellsHowACommandFailed) {
  EXPECT_FALSE(run_line("exit 3").succeeded);
  EXPECT_EQ(run_line("exit 3").description, "exited with status 3");
  EXPECT_EQ(run_line("kill -9 $$").description, "was killed by signal 9 (Killed)");
  // The shell survives its command.
  EXPECT_EQ(run_line("sh -c 'kill -9 $$'; exit $?").description,
            "exited with status 137, as for signal 9 (Killed)");
  EXPECT_FALSE(run_line("sh -c 'kill -9 $$'; exit $?").succeeded);
  const CommandEnd unknown = run_line("no_such_program --flag");
  EXPECT_EQ(unknown.description, "exited with status 127");
  EXPECT_THAT(unknown.output, HasSubstr("no_such_program"));
}

TEST(ShellCommandTest, KeepsTheEndOfALongOutput) {
  const CommandEnd end = run_line("i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done");
  EXPECT_EQ(end.output.size(), 4096u);
  EXPECT_TRUE(end.output.ends_with("line 2998\nline 2999\n"));
}

TEST(ShellCommandTest, RunsInItsDirectoryWithoutAnInput) {
  const std::string directory = ::testing::TempDir() + "shell_command_test";
  fs::create_directories(directory);
  EXPECT_TRUE(run_shell_command("cat > here.txt && echo done >> here.txt", directory).succeeded);
  EXPECT_EQ(read_file(directory + "/here.txt"), "done\n");
  fs::remove_all(directory);
  EXPECT_THAT([&] { run_shell_command("true", directory); },
              ThrowsMessage<Error>("cannot start /bin/sh in '" + directory +
                                   "': No such file or directory"));
}

TEST(ShellCommandTest, DoesNotWaitForWhatRunsOnInTheBackground) {
  const CommandEnd end = run_line("sleep 1000 & echo $!");
  EXPECT_TRUE(end.succeeded);
  EXPECT_THAT(end.output, testing::MatchesRegex("[0-9]+\n"));
  ::kill(std::stoi(end.output), SIGKILL);
}

TEST(ShellCommandTest, StaysInTheGroupOfThisProcess) {
  const CommandEnd end = run_line("ps -o pgid= -p $$ 2>/dev/null || cut -d' ' -f5 /proc/$$/stat");
  EXPECT_EQ(std::stoi(end.output), ::getpgrp());
}

TEST(ShellCommandTest, LastLinesAreOneLine) {
  EXPECT_EQ(last_lines(""), "");
  EXPECT_EQ(last_lines("\n \n"), "");
  EXPECT_EQ(last_lines("a\nb\n\n  c\nd\n\n"), "b | c | d");
  EXPECT_EQ(last_lines("only"), "only");
  EXPECT_EQ(last_lines("10 %\r50 %\r100 %\r\nred \x1b[31m"), "100 % | red \\x1b[31m");
}

}  // namespace
}  // namespace torch_ir
