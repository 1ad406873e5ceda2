#include "torch_ir/verifier/arithmetic.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "torch_ir/base/error.h"
#include "torch_ir/verifier/testing/doubles.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::HasSubstr;

TEST(Arithmetic, HasNames) {
  for (const Arithmetic arithmetic : kArithmetics) {
    EXPECT_EQ(parse_arithmetic(arithmetic_name(arithmetic)), arithmetic);
  }
  try {
    parse_arithmetic("float12");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "unknown compute dtype 'float12'; expected one of: float16, bfloat16, tf32");
  }
}

TEST(Arithmetic, RoundsToNearestEven) {
  const auto round_one = [](Arithmetic arithmetic, double number) {
    return round_to(arithmetic, at::tensor({number}, at::kFloat)).item<double>();
  };
  const double kUnit = std::ldexp(1.0, -11);
  for (const Arithmetic arithmetic : {Arithmetic::kFloat16, Arithmetic::kTf32}) {
    EXPECT_EQ(rounding_unit(arithmetic), kUnit);
    EXPECT_EQ(round_one(arithmetic, 1 + kUnit), 1);
    EXPECT_EQ(round_one(arithmetic, 1 + 3 * kUnit), 1 + 4 * kUnit);
    EXPECT_EQ(round_one(arithmetic, -1 - 1.1 * kUnit), -1 - 2 * kUnit);
  }
  EXPECT_EQ(round_one(Arithmetic::kBFloat16, 1 + std::ldexp(1.0, -8)), 1);
  EXPECT_EQ(round_one(Arithmetic::kFloat16, 1e5), kInf);
  EXPECT_NEAR(round_one(Arithmetic::kTf32, 1e30), 1e30, 1e30 * kUnit);
  EXPECT_EQ(round_one(Arithmetic::kTf32, -kInf), -kInf);
  EXPECT_TRUE(std::isnan(round_one(Arithmetic::kTf32, kNan)));
}

TEST(Arithmetic, LeavesOtherDtypesAsTheyAre) {
  for (const c10::ScalarType dtype : {at::kLong, at::kBFloat16, at::kHalf, at::kBool}) {
    const at::Tensor tensor = at::ones({3}, dtype);
    EXPECT_TRUE(round_to(Arithmetic::kBFloat16, tensor).is_same(tensor));
  }
  const at::Tensor complex = at::full({2}, c10::complex<float>(1.001F, 3), at::kComplexFloat);
  EXPECT_TRUE(at::equal(round_to(Arithmetic::kBFloat16, complex),
                        at::full({2}, c10::complex<float>(1, 3), at::kComplexFloat)));
}

TEST(Arithmetic, ComparesErrors) {
  const ErrorComparison errors =
      compare_errors(doubles({1.5, -2, 5, kInf, 7, -1e5}), doubles({1, -2.5, 4, 1, kInf, -kInf}),
                     doubles({1, -2, 4, 1, 3, -kInf}));
  EXPECT_EQ(errors.num_compared, 3);
  // Infinite where 1 is expected. A large number in place of -inf is right.
  EXPECT_EQ(errors.num_non_finite, 1);
  EXPECT_DOUBLE_EQ(errors.value_rms, std::sqrt(21 / 3.0));
  EXPECT_EQ(errors.value_max, 4);
  EXPECT_DOUBLE_EQ(errors.executor.rms, std::sqrt(1.25 / 3));
  EXPECT_EQ(errors.executor.max, 1);
  EXPECT_EQ(errors.executor.mean, 0.5);
  EXPECT_DOUBLE_EQ(errors.executor.slope, 4.5 / 21);
  EXPECT_DOUBLE_EQ(errors.yardstick.mean, -0.5 / 3);
}

class JudgeOwn : public ::testing::TestWithParam<Arithmetic> {
 protected:
  ArithmeticVerdict judge(const at::Tensor& right, const at::Tensor& wrong) const {
    const at::Tensor exact = right.to(at::kDouble);
    return judge_own(
        compare_errors(round_to(GetParam(), wrong), round_to(GetParam(), right), exact),
        rounding_unit(GetParam()), /*error_factor=*/4);
  }
};

TEST_P(JudgeOwn, AcceptsARounding) {
  const at::Tensor x = at::randn({64, 64});
  const ArithmeticVerdict verdict = judge(x, x);
  EXPECT_EQ(verdict.problem, "");
  EXPECT_NEAR(verdict.rms_ratio, 1, 0.05);
  EXPECT_EQ(verdict.slope, 0);
}

TEST_P(JudgeOwn, NamesValuesThatAreTooLarge) {
  const at::Tensor x = at::randn({64, 64});
  const ArithmeticVerdict verdict = judge(x, x.mul(1.01));
  EXPECT_THAT(verdict.problem,
              AllOf(HasSubstr("roundings; the limit is 3"), HasSubstr("too large")));
  EXPECT_NEAR(verdict.slope, 0.01, 5e-4);
}

TEST_P(JudgeOwn, NamesOneWrongElement) {
  const at::Tensor x = at::randn({128, 128});
  at::Tensor wrong = x.clone();
  wrong[3][5] += 64 * rounding_unit(GetParam());
  EXPECT_THAT(judge(x, wrong).problem, HasSubstr("a max. error of"));
}

INSTANTIATE_TEST_SUITE_P(Arithmetics, JudgeOwn, ::testing::ValuesIn(kArithmetics));

TEST(JudgeOwn, NamesSystematicErrorsBelowTheLimit) {
  const at::Tensor x = at::randn({64, 64}).to(at::kDouble);
  const double unit = rounding_unit(Arithmetic::kFloat16);
  const auto judge = [&](const at::Tensor& wrong) {
    return judge_own(compare_errors(wrong, round_to(Arithmetic::kFloat16, x), x), unit, 4);
  };
  EXPECT_THAT(judge(x.mul(1 - unit)).problem,
              AllOf(HasSubstr("a systematic error; its values are 0.0"), HasSubstr("small")));
  EXPECT_THAT(judge(x.add(1.1 * unit)).problem, HasSubstr("its values are shifted by 0.05"));
  EXPECT_EQ(judge(x.mul(1 + 0.6 * unit)).problem, "");
}

TEST(JudgeOwn, AllowsForSumsInTheUnitOfTheValue) {
  const at::Tensor x = at::randn({1024}).to(at::kDouble);
  const auto problem = [&](double roundings, bool adds_in_unit) {
    const ErrorComparison errors =
        compare_errors(x.mul(1 + roundings * 0x1p-24), x.to(at::kFloat), x);
    return judge_own(errors, 0x1p-24, 4, /*step=*/0, adds_in_unit).problem;
  };
  EXPECT_EQ(problem(4, true), "");
  EXPECT_THAT(problem(4, false), HasSubstr("too large"));
  EXPECT_THAT(problem(1e-3 * 0x1p24, true), HasSubstr("its values are 0.1 % too large"));
}

TEST(JudgeOwn, AllowsForSteps) {
  const at::Tensor x = at::randn({256}).to(at::kDouble);
  const at::Tensor steps = x.div(0.1).round().mul(0.1);
  const ErrorComparison errors = compare_errors(steps, round_to(Arithmetic::kFloat16, x), x);
  EXPECT_EQ(judge_own(errors, 0x1p-11, 4, /*step=*/0.1).problem, "");
  EXPECT_NE(judge_own(errors, 0x1p-11, 4).problem, "");
}

TEST(JudgeAccumulated, ComparesWithTheYardstick) {
  const ErrorComparison errors{.num_compared = 100,
                               .value_rms = 1,
                               .value_max = 3,
                               .executor = {.rms = 0.04, .max = 0.1},
                               .yardstick = {.rms = 0.02, .max = 0.05}};
  EXPECT_EQ(judge_accumulated(errors, 0x1p-8, 4).problem, "");
  EXPECT_EQ(judge_accumulated(errors, 0x1p-8, 1.5).problem,
            "an RMS error of 2 times the yardstick's; the limit is 1.5");
  ErrorComparison few = errors;
  few.num_compared = 10;
  EXPECT_EQ(judge_accumulated(few, 0x1p-8, 1.6).problem, "");
}

// Whatever the factor.
TEST(JudgeAccumulated, RefusesErrorsAsLargeAsTheValue) {
  const ErrorComparison errors = compare_errors(doubles({0}), doubles({-2.33}), doubles({-2.34}));
  EXPECT_EQ(judge_accumulated(errors, 0x1p-11, 8192).problem, "an SNR of 0 dB; the limit is 6 dB");
}

}  // namespace
}  // namespace torch_ir
