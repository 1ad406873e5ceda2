#include "torch_ir/verifier/arithmetic.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "torch_ir/base/error.h"
#include "torch_ir/verifier/testing/doubles.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::HasSubstr;

constexpr std::array kArithmetics = {Arithmetic::kFloat16, Arithmetic::kBFloat16,
                                     Arithmetic::kTf32};

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
  EXPECT_DOUBLE_EQ(errors.run.rms, std::sqrt(1.25 / 3));
  EXPECT_EQ(errors.run.max, 1);
  EXPECT_EQ(errors.run.mean, 0.5);
  EXPECT_DOUBLE_EQ(errors.run.slope, 4.5 / 21);
  EXPECT_DOUBLE_EQ(errors.eager.mean, -0.5 / 3);
}

class ErrorOfNodes : public ::testing::TestWithParam<Arithmetic> {
 protected:
  OwnError judge(const at::Tensor& right, const at::Tensor& wrong) const {
    const at::Tensor exact = right.to(at::kDouble);
    return judge_error(
        compare_errors(round_to(GetParam(), wrong), round_to(GetParam(), right), exact),
        {.unit = rounding_unit(GetParam())});
  }
};

TEST_P(ErrorOfNodes, AcceptsARounding) {
  const at::Tensor x = at::randn({64, 64});
  const OwnError verdict = judge(x, x);
  EXPECT_EQ(verdict.problem, "");
  EXPECT_NEAR(verdict.rms_ratio, 1, 0.05);
  EXPECT_EQ(verdict.slope, 0);
}

TEST_P(ErrorOfNodes, NamesValuesThatAreTooLarge) {
  const at::Tensor x = at::randn({64, 64});
  const OwnError verdict = judge(x, x.mul(1.01));
  EXPECT_THAT(verdict.problem,
              AllOf(HasSubstr("roundings; the limit is 3.09"), HasSubstr("too large")));
  EXPECT_NEAR(verdict.slope, 0.01, 5e-4);
}

TEST_P(ErrorOfNodes, NamesOneWrongElement) {
  const at::Tensor x = at::randn({128, 128});
  at::Tensor wrong = x.clone();
  wrong[3][5] += 64 * rounding_unit(GetParam());
  EXPECT_THAT(judge(x, wrong).problem, HasSubstr("a max. error of"));
}

INSTANTIATE_TEST_SUITE_P(Arithmetics, ErrorOfNodes, ::testing::ValuesIn(kArithmetics));

TEST(ErrorOfNodes, NamesSystematicErrorsBelowTheLimit) {
  const at::Tensor x = at::randn({64, 64}).to(at::kDouble);
  const double unit = rounding_unit(Arithmetic::kFloat16);
  const auto judge = [&](const at::Tensor& wrong) {
    return judge_error(compare_errors(wrong, round_to(Arithmetic::kFloat16, x), x), {.unit = unit});
  };
  EXPECT_THAT(judge(x.mul(1 - unit)).problem,
              AllOf(HasSubstr("a systematic error; its values are 0.0"), HasSubstr("small")));
  EXPECT_THAT(judge(x.add(1.1 * unit)).problem, HasSubstr("its values are shifted by 0.05"));
  EXPECT_EQ(judge(x.mul(1 + 0.6 * unit)).problem, "");
}

TEST(ErrorOfNodes, AllowsForSumsInTheUnitOfTheValue) {
  const at::Tensor x = at::randn({1024}).to(at::kDouble);
  const auto problem = [&](double roundings, bool adds_in_unit) {
    const ErrorComparison errors =
        compare_errors(x.mul(1 + roundings * 0x1p-24), x.to(at::kFloat), x);
    return judge_error(errors, {.unit = 0x1p-24, .adds_in_unit = adds_in_unit}).problem;
  };
  EXPECT_EQ(problem(4, true), "");
  EXPECT_THAT(problem(4, false), HasSubstr("too large"));
  EXPECT_THAT(problem(1e-3 * 0x1p24, true), HasSubstr("its values are 0.1 % too large"));
}

TEST(ErrorOfNodes, AllowsForSteps) {
  const at::Tensor x = at::randn({256}).to(at::kDouble);
  const at::Tensor steps = x.div(0.1).round().mul(0.1);
  const ErrorComparison errors = compare_errors(steps, round_to(Arithmetic::kFloat16, x), x);
  EXPECT_EQ(judge_error(errors, {.unit = 0x1p-11, .step = 0.1}).problem, "");
  EXPECT_NE(judge_error(errors, {.unit = 0x1p-11}).problem, "");
}

OwnError of_outputs(const ErrorComparison& errors, double unit) {
  return judge_error(errors, {.unit = unit, .is_accumulated = true});
}

TEST(ErrorOfOutputs, ComparesWithTheEagerLane) {
  ErrorComparison errors{.num_compared = 100,
                         .value_rms = 1,
                         .value_max = 3,
                         .run = {.rms = 0.08, .max = 0.1},
                         .eager = {.rms = 0.02, .max = 0.05}};
  EXPECT_EQ(of_outputs(errors, 0x1p-8).problem, "");
  errors.run.rms = 0.09;
  EXPECT_EQ(of_outputs(errors, 0x1p-8).problem,
            "an RMS error of 4.5 times eager's; the limit is 4");
  errors.num_compared = 10;
  EXPECT_EQ(of_outputs(errors, 0x1p-8).problem, "");
}

TEST(ErrorOfOutputs, RefusesErrorsAsLargeAsTheValue) {
  const ErrorComparison errors = compare_errors(doubles({0}), doubles({-1.64}), doubles({-2.34}));
  EXPECT_EQ(of_outputs(errors, 0x1p-11).problem, "an SNR of 0 dB; the limit is 6 dB");
}

// log_softmax of [-1e9, 0]: the largest element would set the limit of the other.
TEST(UnexplainedElements, AreThoseThatOnlyLargerOnesWouldExcuse) {
  const ErrorKind kind{.unit = 0x1p-24, .adds_in_unit = true, .is_accumulated = true};
  const at::Tensor eager = at::tensor({-1e9F, 0.0F});
  const at::Tensor wrong = at::tensor({-1e9F, 1.0F});
  EXPECT_EQ(judge_error(compare_errors(wrong, eager, eager.to(at::kDouble)), kind).problem, "");
  const auto unexplained = [&](const at::Tensor& actual, const at::Tensor& its_eager,
                               const at::Tensor& exact) {
    return unexplained_elements(actual, its_eager, exact, kind, {.rtol = 1.3e-6, .atol = 1e-5});
  };
  EXPECT_EQ(unexplained(wrong, eager, eager.to(at::kDouble)),
            "1 of 2 elements are further from float64 than eager's of their size: element 1 is 1, "
            "expected 0");
  EXPECT_EQ(unexplained(eager, eager, eager.to(at::kDouble)), "");
  // Zeros of many are where something was cut off, near which errors are those of the others.
  const at::Tensor exact = at::randn({1024}, at::kDouble).mul(1e4);
  const at::Tensor noise = at::randn({1024}, at::kDouble).mul(1e-3);
  EXPECT_EQ(unexplained(exact.add(noise).relu(), exact.sub(noise).relu(), exact.relu()), "");
  EXPECT_EQ(unexplained(exact.add(noise), exact.sub(noise), exact), "");
}

}  // namespace
}  // namespace torch_ir
