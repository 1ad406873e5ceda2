#include "harness/backend/shell_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using testing::ThrowsMessage;

// --- CommandTemplate ---

const std::vector<std::string> kPlaceholders = {"ir", "outputs"};

std::string fill(const std::string& text, const std::string& ir = "/d/ir.json") {
  return CommandTemplate(text, kPlaceholders).fill({{"ir", ir}, {"outputs", "/d/out"}});
}

// The standard output of the shell for a line.
std::string run(const std::string& line) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(line.c_str(), "r"), &::pclose);
  std::array<char, 256> buffer;
  std::string output;
  while (std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) output += buffer.data();
  return output;
}

TEST(CommandTemplateTest, OnlyPlaceholdersBecomeQuotedPaths) {
  EXPECT_EQ(fill("sim --ir={ir} {outputs} {ir}"), "sim --ir='/d/ir.json' '/d/out' '/d/ir.json'");
  EXPECT_EQ(fill("X=${ir} awk '{ print $1 }' {ir} {outputs} ; { echo a; } {A} {a,b} {} {"),
            "X=${ir} awk '{ print $1 }' '/d/ir.json' '/d/out' ; { echo a; } {A} {a,b} {} {");
  EXPECT_EQ(fill("awk '{{print}}' {ir} {outputs} {{ir}}"),
            "awk '{print}' '/d/ir.json' '/d/out' {ir}");
}

TEST(CommandTemplateTest, ThePathReachesTheProgramWhateverIsInIt) {
  const std::string odd = "/d/it's \"a\" $HOME `dir` \\n {ir} *";
  for (const char* text :
       {"printf '<%s>' {ir} {outputs}", "printf '<%s>' \"{ir}\" '{outputs}'",
        "printf '<%s>' '{ir}' \"{outputs}\"", "printf '<%s>' \"\"{ir} ''\"{outputs}\""}) {
    EXPECT_EQ(run(fill(text, odd)), "<" + odd + "></d/out>") << text;
  }
  EXPECT_EQ(run(fill("printf '<%s>' \"it's {ir}\" \\'{outputs}", odd)),
            "<it's " + odd + "><'/d/out>");
}

TEST(CommandTemplateTest, EveryPlaceholderIsNeededAndNoOther) {
  EXPECT_THAT([] { fill("sim {ir}"); },
              ThrowsMessage<Error>(
                  "missing {outputs} in the command 'sim {ir}'; expected {ir} and {outputs}"));
  EXPECT_THAT([] { fill("sim\n{outputs}"); },
              ThrowsMessage<Error>(
                  "missing {ir} in the command 'sim\\x0a{outputs}'; expected {ir} and {outputs}"));
  EXPECT_THAT([] { fill("sim {ir} {output}"); },
              ThrowsMessage<Error>("unknown placeholder {output}; expected {ir} and {outputs}; did "
                                   "you mean 'outputs'? ({{output}} is the text {output})"));
}

// --- run_shell_command ---

CommandEnd run_line(const std::string& line) {
  return run_shell_command(line, ::testing::TempDir());
}

TEST(ShellCommandTest, TellsHowACommandEndedAndWhatWasPrinted) {
  const CommandEnd end = run_line("echo out; echo err >&2");
  EXPECT_TRUE(end.succeeded);
  EXPECT_EQ(end.output, "out\nerr\n");
  // The shell survives its command.
  const CommandEnd killed = run_line("sh -c 'kill -9 $$'; exit $?");
  EXPECT_EQ(killed.description, "exited with status 137, as for signal 9 (Killed)");
  EXPECT_FALSE(killed.succeeded);
  EXPECT_TRUE(killed.has_crashed);
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
