#include "harness/results/run_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/version.h>

#include <cstdlib>

#include "torch_ir/base/file.h"
#include "torch_ir/base/version.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kConfig =
    "PyTorch built with:\n"
    "  - GCC 13.3\n"
    "  - Build settings: BLAS_INFO=mkl, CXX_FLAGS= -O2 -DUSE_MKL=1, USE_MKL=ON, \n";

TEST(EnvironmentTest, FindsSettingsOfTheBuild) {
  EXPECT_EQ(build_setting(kConfig, "BLAS_INFO"), "mkl");
  EXPECT_EQ(build_setting(kConfig, "USE_MKL"), "ON");
  EXPECT_EQ(build_setting(kConfig, "INFO"), "");
  EXPECT_EQ(build_setting(kConfig, "LAPACK_INFO"), "");
}

using Item = Environment::value_type;

TEST(EnvironmentTest, TellsTheVersionFirst) {
  const Environment all = environment();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0], Item("LibTorch", TORCH_VERSION));
  EXPECT_THAT(all, ::testing::Contains(Item("torch-ir", kVersion)));
  EXPECT_THAT(all, ::testing::Contains(Field(&Item::first, "CPU instructions")));
  EXPECT_THAT(all, Each(Field(&Item::second, AllOf(Not(""), Not(HasSubstr("\n"))))));
}

// Returns `word` as bash parses it.
std::string read_by_bash(const std::string& word) {
  const std::string file = ::testing::TempDir() + "word.txt";
  setenv("COMMAND", ("printf %s " + word).c_str(), 1);
  EXPECT_EQ(std::system(("bash -c \"$COMMAND\" > '" + file + "'").c_str()), 0);
  return read_file(file);
}

TEST(ShellWordTest, PlainTextStandsAsItIsAndOthersAreQuotedOnOneLine) {
  EXPECT_EQ(shell_word("a/b-c_d.pt2"), "a/b-c_d.pt2");
  EXPECT_EQ(shell_word(""), "''");
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

TEST(CutCommandTest, HasTheFilesThatTheModelRanWith) {
  Result result{.name = "a"};
  EXPECT_EQ(cut_command(result), "");
  result.origin = ModelFiles{.path = "-a b.pt2",
                             .program = "decode",
                             .weights = "w.safetensors",
                             .inputs = {"x.safetensors"}};
  EXPECT_EQ(
      cut_command(result),
      "torch-ir cut './-a b.pt2' --program decode --weights w.safetensors --inputs x.safetensors");
  result.origin = ModelFiles{.format = FileFormat::kGraph, .path = "a"};
  EXPECT_EQ(cut_command(result), "");
}

}  // namespace
}  // namespace torch_ir
