#include "harness/run/expected_failures.h"

#include <gmock/gmock.h>

#include "harness/run/pattern_lines.h"
#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;

const std::vector<std::string> kKnown = {"Decoder", "llama", "aten.abs.default/float16/denormal",
                                         "aten.abs.default/float32/denormal",
                                         "aten.neg.default/float32/usual"};

ExpectedFailures parse(std::string_view text, const std::vector<std::string>& known = kKnown) {
  ExpectedFailures failures = parse_expected_failures(text, "known.txt");
  check_spelling(failures.entries, "known.txt", known);
  return failures;
}

Result passing(const std::string& name) {
  return {.name = name, .num_passed_stages = kStages.size()};
}

Result failing(const std::string& name, FailureKind kind = FailureKind::kOutputMismatch) {
  return {.name = name, .failure = Failure{.kind = kind}};
}

std::string reason_of(const ExpectedFailures& failures, const Result& result) {
  const auto* entry = failures.find(result);
  return entry == nullptr ? "none" : entry->failure.reason;
}

TEST(ExpectedFailuresTest, ALineIsANameAKindAndAReason) {
  const ExpectedFailures failures = parse(
      "# Known.\n"
      "\n"
      "Decoder: extract unsupported: data: its masks\r\n"
      "  llama :output mismatch:  rounds twice ");
  EXPECT_EQ(to_text(failures),
            "# Known.\n\n"
            "Decoder: extract unsupported: data: its masks\n"
            "llama: output mismatch: rounds twice\n");
}

TEST(ExpectedFailuresTest, AStarStandsForAnyText) {
  EXPECT_TRUE(matches_pattern("aten.*/*/denormal", "aten.add.Tensor/float32/denormal"));
  EXPECT_FALSE(matches_pattern("aten.*/*/denormal", "aten.add.Tensor/float32/denormals"));
  EXPECT_FALSE(matches_pattern("aten.*/*/denormal", "torchao.add/float32/denormal"));
  EXPECT_TRUE(matches_pattern("*denormal", "aten.add/float32/denormal")) << "also with '/'";
  EXPECT_TRUE(matches_pattern("*a*ab", "aaab")) << "the last a belongs to the text";
  EXPECT_TRUE(matches_pattern("llama*", "llama")) << "or none";
  EXPECT_TRUE(matches_pattern("**", ""));
  EXPECT_FALSE(matches_pattern("llama", "llama_cache"));
  EXPECT_FALSE(matches_pattern("", "llama"));
}

TEST(ExpectedFailuresTest, ANameMustFailButWhatAPatternMatchesMay) {
  const ExpectedFailures failures = parse(
      "aten.*: output mismatch: all\n"
      "aten.*: crashed: some crash\n"
      "aten.neg.default/float32/usual: execute failed: no kernel\n"
      "aten.*/denormal: output mismatch: too late\n");
  const std::string denormal = "aten.abs.default/float16/denormal";
  EXPECT_EQ(reason_of(failures, failing(denormal)), "all");
  EXPECT_EQ(reason_of(failures, failing(denormal, FailureKind::kCrashed)), "some crash");
  EXPECT_EQ(reason_of(failures, failing(denormal, FailureKind::kTimedOut)), "none");
  EXPECT_EQ(reason_of(failures, passing(denormal)), "none");
  EXPECT_EQ(reason_of(failures, passing("aten.neg.default/float32/usual")), "no kernel");
  EXPECT_EQ(reason_of(failures, failing("aten.neg.default/float32/usual")), "no kernel");
}

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
  expect_error("l*: timed out: slow\nl*: timed out: big", "known.txt:2: duplicate name 'l*'");
  expect_error("llama: slow: slow",
               "known.txt:1: unknown failure kind 'slow'; expected one of: 'extract unsupported', "
               "'extract failed', 'serialize mismatch', 'load failed', 'execute failed', "
               "'unsupported', 'output "
               "mismatch', 'crashed', 'timed out', 'out of memory'");
}

std::string updated_text(std::string_view text, const std::vector<Result>& results) {
  std::vector<const Result*> pointers;
  for (const Result& result : results) pointers.push_back(&result);
  return to_text(updated(parse(text), pointers, kKnown));
}

TEST(UpdatedFailuresTest, KeepReasonsAndCommentsAndMarkWhatIsNew) {
  const std::string text = updated_text(
      "# The chip, revision B.\n"
      "\n"
      "llama: output mismatch: rounds twice\n"
      "# Masks.\n"
      "Decoder: output mismatch: its masks\n"
      "# Why.\n",
      {failing("llama"), failing("aten.neg.default/float32/usual", FailureKind::kCrashed),
       failing("Decoder", FailureKind::kCrashed)});
  EXPECT_EQ(text,
            "# The chip, revision B.\n"
            "\n"
            "# Why.\n"
            "\n"
            "# Masks.\n"
            "Decoder: crashed: new, was output mismatch: its masks\n"
            "aten.neg.default/float32/usual: crashed: new\n"
            "llama: output mismatch: rounds twice\n");
  EXPECT_EQ(updated_text(text, {failing("llama"), failing("Decoder", FailureKind::kCrashed)}),
            text);
}

TEST(UpdatedFailuresTest, DropWhatPassesAndKeepWhatDidNotRun) {
  const std::string list =
      "Decoder: crashed: big\n"
      "aten.*/denormal: output mismatch: no denormals\n"
      "llama: output mismatch: rounds twice\n";
  const Result good16 = passing("aten.abs.default/float16/denormal");
  const Result good32 = passing("aten.abs.default/float32/denormal");
  EXPECT_EQ(updated_text(list, {}), list);
  EXPECT_EQ(updated_text(list, {passing("llama"), good16}),
            "Decoder: crashed: big\naten.*/denormal: output mismatch: no denormals\n")
      << "another case of the pattern may fail";
  EXPECT_EQ(updated_text(list, {good16, good32}),
            "Decoder: crashed: big\nllama: output mismatch: rounds twice\n");
  EXPECT_EQ(updated_text(list, {good16, failing("aten.abs.default/float32/denormal")}), list)
      << "the pattern has it";
  Result unsupported = passing("llama");
  unsupported.unsupported = "no";
  EXPECT_EQ(updated_text(list, {unsupported}), list);
  // It is a failure where support is required.
  const std::string pattern = "ll*: unsupported: no scans\n";
  EXPECT_EQ(updated_text(pattern, {unsupported}), pattern);
}

}  // namespace
}  // namespace torch_ir
