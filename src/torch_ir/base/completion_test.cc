#include "torch_ir/base/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

void declare(CLI::App& parser) {
  static std::string value;
  static bool flag;
  parser.add_option("--level", value, "It's the level; more of it");
  parser.add_option("--model", value, "The model")->type_name("NAME");
  parser.add_option("--input", value, "A file [of tensors]")->type_name("FILE");
  parser.add_option("--folder", value, "A folder")->type_name("DIR");
  parser.add_option("--seed", value, "A number")->type_name("N");
  parser.add_flag("-q,--quiet", flag, "Say nothing");
}

// A script for a program with options and one argument.
std::string script_of_options(const std::string& shell, const CompletionValues& values) {
  CLI::App parser;
  declare(parser);
  static std::string value;
  parser.add_option("FILE", value, "The graph");
  return completion_script(shell, "tool", parser, values);
}

// The same for a program with commands that have these.
std::string script_of_commands(const std::string& shell, const std::string& program,
                               const std::vector<std::string>& commands,
                               const CompletionValues& values) {
  CLI::App parser;
  static std::string value;
  for (const std::string& command : commands) {
    CLI::App* declared = parser.add_subcommand(command, "Do: " + command);
    declare(*declared);
    declared->add_option("FILE", value, "The graph");
  }
  return completion_script(shell, program, parser, values);
}

CompletionValues values() {
  return {.words = {{"--level", {"exact", "fast"}}}, .commands = {{"--model", "printf 'A1\\nB2'"}}};
}

// What bash offers for `words`, the last of which is being typed.
std::string complete_in_bash(const std::string& script, const std::string& program,
                             const std::vector<std::string>& words) {
  const std::string path = ::testing::TempDir() + "completion_test.bash";
  std::ofstream file(path);
  file << script << "COMP_WORDS=(" << program;
  for (const std::string& word : words) file << " '" << word << "'";
  file << ")\nCOMP_CWORD=" << words.size() << "\n"
       << "function=$(complete -p " << program << " | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n"
       << "$function; printf '%s ' \"${COMPREPLY[@]}\"\n";
  file.close();
  FILE* shell = ::popen(("bash --norc " + path + " 2>&1").c_str(), "r");
  std::string output;
  char buffer[256];
  while (::fgets(buffer, sizeof(buffer), shell) != nullptr) output += buffer;
  EXPECT_EQ(::pclose(shell), 0);
  return output;
}

TEST(CompletionTest, BashOffersCommandsOptionsAndValues) {
  const std::string script = script_of_commands("bash", "the-tool", {"run", "rest"}, values());
  const auto offered = [&](const std::vector<std::string>& words) {
    return complete_in_bash(script, "the-tool", words);
  };
  EXPECT_EQ(offered({"r"}), "run rest ");
  EXPECT_EQ(offered({""}), "run rest --help --version ");
  EXPECT_EQ(offered({"run", "--l"}), "--level ");
  EXPECT_EQ(offered({"run", "--quiet", "-"}),
            "-h --help --level --model --input --folder --seed -q --quiet ");
  EXPECT_EQ(offered({"run", "--level", ""}), "exact fast ");
  EXPECT_EQ(offered({"rest", "--model", "B"}), "B2 ");
  // Options of another command are none.
  EXPECT_EQ(offered({"unknown", "--l"}), " ");
}

TEST(CompletionTest, BashOffersPathsWhereTheyBelong) {
  const std::string directory = ::testing::TempDir();
  std::ofstream(directory + "completion_test_file.json") << "{}";
  const std::string script = script_of_options("bash", values());
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{directory + "completion_test_f"},
        {"--input", directory + "completion_test_f"}}) {
    EXPECT_EQ(complete_in_bash(script, "tool", words), directory + "completion_test_file.json ");
  }
  EXPECT_EQ(complete_in_bash(script, "tool", {"--qu"}), "--quiet ");
  std::filesystem::create_directories(directory + "completion_test_folder");
  EXPECT_EQ(complete_in_bash(script, "tool", {"--folder", directory + "completion_test_f"}),
            directory + "completion_test_folder ");
  EXPECT_EQ(complete_in_bash(script, "tool", {"--seed", directory + "completion_test_f"}), " ");
  std::filesystem::remove(directory + "completion_test_folder");
}

TEST(CompletionTest, BashOffersWordsForAnArgument) {
  CompletionValues words = values();
  words.words["FILE"] = {"bash", "zsh"};
  const std::string script = script_of_commands("bash", "tool", {"run"}, words);
  EXPECT_EQ(complete_in_bash(script, "tool", {"run", ""}), "bash zsh ");
  EXPECT_EQ(complete_in_bash(script, "tool", {"run", "--q"}), "--quiet ");
}

TEST(CompletionTest, BashOffersOptionsWhereThereIsNoArgument) {
  CLI::App parser;
  declare(parser);
  const std::string script = completion_script("bash", "tool", parser, {});
  EXPECT_EQ(complete_in_bash(script, "tool", {""}),
            "-h --help --level --model --input --folder --seed -q --quiet ");
  EXPECT_EQ(complete_in_bash(script, "tool", {"--quiet", "./"}), " ");
}

TEST(CompletionTest, ZshDescribesEachOption) {
  const std::string script = script_of_options("zsh", values());
  EXPECT_THAT(script, HasSubstr("#compdef tool\n_tool() {\n"));
  EXPECT_THAT(script, HasSubstr("'*--level[It'\\''s the level]:TEXT:(exact fast)'"));
  EXPECT_THAT(script, HasSubstr("'*--input[A file \\[of tensors\\]]:FILE:_files'"));
  EXPECT_THAT(script, HasSubstr("'*--folder[A folder]:DIR:_files -/'"));
  EXPECT_THAT(script, HasSubstr("'*--seed[A number]:N: '"));
  EXPECT_THAT(script, HasSubstr("'*:FILE:_files'\n}\n"));
  EXPECT_THAT(script, HasSubstr("'*--quiet[Say nothing]' \\\n"));
  const std::string several = script_of_commands("zsh", "tool", {"run", "rest"}, values());
  EXPECT_THAT(several, HasSubstr("'run:Do\\: run'"));
}

TEST(CompletionTest, OtherShellsAreRefused) {
  EXPECT_THAT([] { completion_script("fish", "tool", CLI::App(), {}); },
              ThrowsMessage<Error>("there is no completion for 'fish': give bash or zsh"));
}

}  // namespace
}  // namespace torch_ir
