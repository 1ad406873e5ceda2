// Own errors of outputs on the pages.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/report/pages.h"
#include "harness/report/testing/page_test_results.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(OwnErrorPageTest, StandsBesideTheComparisonWithTheModel) {
  Result result = make_result(2.5e-7);
  EXPECT_THAT(render_model_page(result, {}), Not(HasSubstr("Own error")));
  ValueDetail& output = result.trials[0].verification.output_details[0];
  output.own_error = OwnError{.rms_ratio = 2.5};
  output.basis = Basis::kOwnError;
  EXPECT_THAT(render_model_page(result, {}), HasSubstr(" | 2.5 | 0 | right by its own error |\n"));
  EXPECT_THAT(summary_of({result}), HasSubstr(" | 2.5 |\n"));
  output.own_error->problem = output.problem = "an RMS error of 30 times eager's; the limit is 4";
  EXPECT_THAT(render_model_page(result, {}),
              HasSubstr(" | 2.5 | 0 | ❌ an RMS error of 30 times eager's; the limit is 4 |\n"));
}

TEST(OwnErrorPageTest, IsTheCriterionIfTheRunSaysSo) {
  Result result = make_result(2.5e-7);
  result.trials[0].verification.criterion = {.reference = ReferenceKind::kFloat64};
  const std::string page = render_model_page(result, {});
  EXPECT_THAT(page, HasSubstr("An output passes if its error against the graph in float64 is at "
                              "most 4 times that of eager operators."));
  EXPECT_THAT(page, Not(HasSubstr("### Tolerance\n")));
}

}  // namespace
}  // namespace torch_ir
