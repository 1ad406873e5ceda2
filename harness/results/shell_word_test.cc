#include "harness/results/shell_word.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace torch_ir {
namespace {

// What bash takes `word` for.
std::string read_by_bash(const std::string& word) {
  setenv("COMMAND", ("printf %s " + word).c_str(), 1);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen("bash -c \"$COMMAND\"", "r"), ::pclose);
  std::string text;
  std::array<char, 256> bytes{};
  while (const size_t size = std::fread(bytes.data(), 1, bytes.size(), pipe.get())) {
    text.append(bytes.data(), size);
  }
  return text;
}

TEST(ShellWordTest, PlainTextStandsAsItIs) {
  EXPECT_EQ(shell_word("a/b-c_d.pt2"), "a/b-c_d.pt2");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(ShellWordTest, OthersAreQuotedOnOneLine) {
  EXPECT_EQ(shell_word("my tiny's.pt2"), "'my tiny'\\''s.pt2'");
  EXPECT_EQ(shell_word("a\nb"), "$'a\\012b'");
}

TEST(ShellWordTest, AShellReadsTheText) {
  for (const std::string text : {"plain", "it's", "$HOME `x` \"y\" \\ ! * ~ {ir}",
                                 "two\nlines\tof it's \\n\x01"
                                 "7\x7f"}) {
    EXPECT_EQ(read_by_bash(shell_word(text)), text) << shell_word(text);
    EXPECT_EQ(shell_word(text).find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace torch_ir
