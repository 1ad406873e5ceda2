#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/options.h"
#include "torch_ir/base/testing/error_of.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;

class ParseArgumentsTest : public ::testing::Test {
 protected:
  ParseArgumentsTest() {
    parser_.add_option("FILE", file_);
    parser_.add_option("-o,--output", output_);
    parser_.add_option("--model", models_)->allow_extra_args(false);
    parser_.add_option("--seed", seed_);
    parser_.add_flag("-q,--quiet", quiet_);
  }

  std::string error(const std::vector<std::string>& arguments) {
    return error_of<Error>([&] { parse_arguments(parser_, arguments); });
  }

  CLI::App parser_;
  std::string file_;
  std::string output_;
  std::vector<std::string> models_;
  int seed_ = 0;
  bool quiet_ = false;
};

TEST_F(ParseArgumentsTest, TakesValues) {
  parse_arguments(parser_, {"--model", "A", "-o", "out", "in", "--model=B", "--seed", "-1", "-q"});
  EXPECT_EQ(file_, "in");
  EXPECT_EQ(output_, "out");
  EXPECT_THAT(models_, ElementsAre("A", "B"));
  EXPECT_EQ(seed_, -1);
  EXPECT_TRUE(quiet_);
}

TEST_F(ParseArgumentsTest, SaysWhatIsNotExpected) {
  EXPECT_EQ(error({"--output", "--model", "M"}), "--output needs a value");
  EXPECT_EQ(error({"--model", "--output", "u2"}), "--model needs a value");
  EXPECT_EQ(error({"--model", "--output=u2"}), "--model needs a value");
  EXPECT_EQ(error({"--output", "-q"}), "--output needs a value");
  EXPECT_EQ(error({"-o", "--unknown"}), "--output needs a value");
  EXPECT_EQ(error({"in", "-o"}), "--output needs a value");
  EXPECT_EQ(error({"--output=", "in"}), "--output needs a value");
  EXPECT_EQ(error({"a", "b\n"}), "unexpected argument 'b\\x0a'");
  EXPECT_EQ(error({"--outptu=x"}), "unknown option '--outptu'; did you mean '--output'?");
  EXPECT_EQ(error({"--output", "a", "--output", "b"}), "--output is given more than once");
  EXPECT_THROW(parse_arguments(parser_, {"--help"}), CLI::CallForHelp);
}

TEST_F(ParseArgumentsTest, OddValuesAreTakenBehindTheSignAndTheMark) {
  parse_arguments(parser_, {"--output=--model", "--model", "-x"});
  EXPECT_EQ(output_, "--model");
  EXPECT_THAT(models_, ElementsAre("-x"));
  parse_arguments(parser_, {"-q", "--", "--output"});
  EXPECT_EQ(file_, "--output");
}

}  // namespace
}  // namespace torch_ir
