#include "harness/run/expected_failures.h"

#include <gmock/gmock.h>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;

const std::vector<std::string> kKnown = {"Decoder", "llama"};

ExpectedFailures parse(std::string_view text) {
  return parse_expected_failures(text, "known.txt", kKnown);
}

TEST(ExpectedFailuresTest, ALineIsANameAKindAndAReason) {
  const ExpectedFailures failures = parse(
      "# Known.\n"
      "\n"
      "Decoder: extract unsupported: data: its masks\r\n"
      "  llama :output mismatch:  rounds twice ");
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_EQ(failures.at("Decoder").kind, FailureKind::kExtractUnsupported);
  EXPECT_EQ(failures.at("Decoder").reason, "data: its masks");
  EXPECT_EQ(failures.at("llama").kind, FailureKind::kOutputMismatch);
  EXPECT_EQ(failures.at("llama").reason, "rounds twice");
}

TEST(ExpectedFailuresTest, AnEmptyListExpectsNothing) { EXPECT_TRUE(parse("# none\n").empty()); }

void expect_error(std::string_view text, const char* message) {
  EXPECT_THAT([&] { parse(text); }, ThrowsMessage<Error>(StrEq(message))) << text;
}

TEST(ExpectedFailuresTest, ErrorsNameTheLine) {
  expect_error("\nDecoder: timed out\n", "known.txt:2: invalid line; expected NAME: KIND: REASON");
  expect_error("Decoder", "known.txt:1: invalid line; expected NAME: KIND: REASON");
  expect_error("Decoder: timed out:  ", "known.txt:1: invalid line; expected NAME: KIND: REASON");
  expect_error("Decodr: timed out: slow",
               "known.txt:1: unknown name 'Decodr'; did you mean 'Decoder'?");
  expect_error("llama: timed out: slow\nllama: crashed: big",
               "known.txt:2: duplicate name 'llama'");
  expect_error("llama: slow: slow",
               "known.txt:1: unknown failure kind 'slow'; expected one of: 'extract unsupported', "
               "'extract failed', 'serialize mismatch', 'load failed', 'execute failed', 'output "
               "mismatch', 'crashed', 'timed out', 'out of memory'");
}

}  // namespace
}  // namespace torch_ir
