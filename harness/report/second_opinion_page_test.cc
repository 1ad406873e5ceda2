// Second opinions from float64 on the pages.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "harness/report/pages.h"
#include "harness/report/testing/page_test_results.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

SecondOpinion worse_opinion() {
  return {.executor_error = 3e-5, .eager_error = 1e-6, .factor = 30};
}

TEST(SecondOpinionPageTest, SaysWhatFloat64SaysOfEachTrial) {
  Result result = make_result(2.5e-7);
  EXPECT_THAT(render_model_page(result, {}), Not(HasSubstr("Second opinion")));
  OutputDetail& output = result.trials[0].verification.output_details[0];
  output.second_opinion = worse_opinion();
  result.trials[0].name = "ones";
  const std::string page = render_model_page(result, {});
  EXPECT_THAT(page,
              HasSubstr("| Trial | Output | Error vs float64 | Eager's error vs float64 | |\n"));
  EXPECT_THAT(page, HasSubstr("| ones | `add` | 3e-05 | 1e-06 | worse than eager by a factor of 30 "
                              "|\n"));
  EXPECT_THAT(page, HasSubstr("### Tolerance\n"));
  EXPECT_THAT(summary_of({result}), HasSubstr(" | 30 |\n"));
  output.second_opinion = {.reason = "node 'a' (b) draws random numbers"};
  EXPECT_THAT(render_model_page(result, {}),
              HasSubstr("| ones | `add` |  |  | no second opinion: node 'a' (b) draws random "
                        "numbers |\n"));
  EXPECT_THAT(summary_of({result}), HasSubstr(" |  |\n"));
}

// As where LibTorch's product of int8 overflows.
TEST(SecondOpinionPageTest, SaysThatEagerItselfIsFarFromFloat64) {
  Result result = make_result(2.5e-7);
  OutputDetail& output = result.trials[0].verification.output_details[0];
  const auto far = HasSubstr("\n\n**Eager itself is far from float64**: its error at `add` is ");
  for (const auto& [dtype, right, wrong] :
       {std::tuple("float32", 1e-4, 1e-3), {"bfloat16", 0.03, 0.3}}) {
    output.comparison.dtype = dtype;
    output.second_opinion = {.eager_error = right};
    EXPECT_THAT(render_model_page(result, {}), Not(far));
    output.second_opinion = {.eager_error = wrong};
    EXPECT_THAT(render_model_page(result, {}), far);
    output.second_opinion = {.eager_error = wrong, .reason = "it draws random numbers"};
    EXPECT_THAT(render_model_page(result, {}), Not(far));
  }
}

TEST(SecondOpinionPageTest, SaysThatFloat64IsTheReference) {
  Result result = make_result(2.5e-7);
  VerificationReport& report = result.trials[0].verification;
  report.output_details[0].second_opinion = worse_opinion();
  report.criterion = {.reference = ReferenceKind::kFloat64};
  const std::string page = render_model_page(result, {});
  EXPECT_THAT(page, HasSubstr("an output passes if its error is at most 4 times eager's."));
  EXPECT_THAT(page, Not(HasSubstr("### Tolerance\n")));
}

}  // namespace
}  // namespace torch_ir
