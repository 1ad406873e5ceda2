#include "harness/run/tolerances.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;

TEST(TolerancesTest, ANameComesBeforePatterns) {
  const AgreedTolerances agreed = parse_tolerances(
      "llama*: rtol 1e-3 atol 1e-4\n*: snr 40 cosine 0.999\nllama_cache: atol 2\n", "a/list.txt");
  ASSERT_NE(agreed.find("llama_cache"), nullptr);
  EXPECT_EQ(agreed.find("llama_cache")->tolerance, (Tolerance{.rtol = 0, .atol = 2}));
  EXPECT_EQ(agreed.find("llama")->tolerance, (Tolerance{.rtol = 1e-3, .atol = 1e-4}));
  RunSettings settings;
  agreed.find("bert")->apply(settings);
  EXPECT_EQ(settings.criterion.reference, ReferenceKind::kModel);
  EXPECT_EQ(settings.criterion.agreed,
            (Threshold{.place = "list.txt:2", .signal_to_noise = 40, .cosine_similarity = 0.999}));
  EXPECT_EQ(parse_tolerances("a: snr 1\n", "f").find("b"), nullptr);
}

TEST(TolerancesTest, ErrorsNameTheLine) {
  const auto expect_error = [](const char* text, const char* message) {
    EXPECT_THAT([&] { parse_tolerances(text, "list.txt"); }, ThrowsMessage<Error>(StrEq(message)))
        << text;
  };
  expect_error("a: snr", "list.txt:1: 'snr' needs a number, 0 or more");
  expect_error("\na: rtol 1 rtol 2", "list.txt:2: duplicate 'rtol'");
  expect_error("a: rtol 1 snr 2", "list.txt:1: give either rtol and atol, or snr and cosine");
  expect_error("a: snr 1\na: snr 2", "list.txt:2: duplicate name 'a'");
}

}  // namespace
}  // namespace torch_ir
