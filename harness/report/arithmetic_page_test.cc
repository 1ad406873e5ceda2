// Compute dtypes and own errors on the pages.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/report/pages.h"
#include "harness/report/testing/page_test_results.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ArithmeticPageTest, SaysHowFarAnOutputIsFromTheYardstick) {
  Result result = make_result(2.5e-3);
  EXPECT_THAT(render_model_page(result, {}), Not(HasSubstr("yardstick")));
  VerificationReport& report = result.trials[0].verification;
  report.arithmetic = {
      .arithmetic = Arithmetic::kFloat16,
      .has_executor = true,
      .outputs = {{.name = "add", .signal_to_noise = 62.5}},
      .losses = {
          {{.index = 3, .node = "mul", .op_type = "aten.mul.Tensor", .value = "mul"}, 60, 7}}};
  report.output_details[0].own_error = {.rms_ratio = 1.25, .max_ratio = 1.5, .signal_to_noise = 61};
  const std::string page = render_model_page(result, {});
  EXPECT_THAT(page, HasSubstr("## In float16\n\nfloat16 can hold this model. Eager operators ran"));
  EXPECT_THAT(page, HasSubstr(" | `add` | 62.5 | 61 | 1.25 | 1.5 |  |\n"));
  EXPECT_THAT(page, HasSubstr("| 3 | `mul` | `aten.mul.Tensor` |  | 60.0 | 7.0 |\n"));
}

TEST(ArithmeticPageTest, NamesTheFirstValueThatIsNotHeld) {
  Result result = make_result(2.5e-3);
  result.trials[0].verification.arithmetic = {
      .arithmetic = Arithmetic::kFloat16,
      .first_lost = LostValue{{.index = 3, .node = "pow_3", .value = "pow_3", .module = "norm"}}};
  EXPECT_EQ(result.status(), Status::kNotHeld);
  EXPECT_FALSE(result.is_good());
  const std::string text = "float16 cannot hold this model: first infinity at `pow_3` in `norm`";
  EXPECT_THAT(render_model_page(result, {}), HasSubstr("🟡 **NOT HELD**: " + text + ".\n"));
  EXPECT_THAT(summary_of({result}), HasSubstr("0 of 1 models passed**, 1 not held by the compute"));
  result.trials[0].verification.arithmetic->has_executor = true;
  EXPECT_TRUE(result.is_good());
  EXPECT_THAT(render_model_page(result, {}),
              HasSubstr("`norm`. The executor is right up to there."));
}

TEST(ArithmeticPageTest, PutsOwnErrorsBesideAccumulatedOnes) {
  Result result = make_result(2.5e-3);
  ValueDetail detail{.index = 3, .node = "add", .op_type = "aten.add.Tensor", .value = "add"};
  detail.comparison.max_diff = 0.5;
  detail.comparison.signal_to_noise = 40;
  detail.own_error = {.rms_ratio = 6.1, .max_ratio = 4, .slope = 0.01, .problem = "an RMS error"};
  detail.problem = detail.own_error->problem;
  NodeReport& nodes = result.nodes.emplace();
  nodes.num_compared = nodes.num_mismatched = 1;
  nodes.worst = {detail};
  nodes.first_divergence = {.node = detail};
  const std::string page = render_model_page(result, {});
  EXPECT_THAT(page, HasSubstr("| 6.1 | 4 | +1 | ❌ an RMS error |\n"));
  EXPECT_THAT(page, HasSubstr("**The first difference** is at node 3, add (`aten.add.Tensor`): 1 % "
                              "too large. "
                              "By itself, computed from the values that the run returned "
                              "before it, it has an RMS error.\n\nFaulty operators: "
                              "`aten.add.Tensor` in 1 of 1 call.\n"));
}

}  // namespace
}  // namespace torch_ir
