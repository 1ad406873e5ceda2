#include "torch_ir/verifier/arithmetic.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>

#include "torch_ir/base/error.h"
#include "torch_ir/verifier/testing/tensors.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

constexpr std::array kArithmetics = {Arithmetic::kFloat16, Arithmetic::kBFloat16,
                                     Arithmetic::kTf32};

TEST(Arithmetic, HasNames) {
  for (const Arithmetic arithmetic : kArithmetics) {
    EXPECT_EQ(parse_arithmetic(arithmetic_name(arithmetic)), arithmetic);
  }
  EXPECT_THAT([] { parse_arithmetic("float12"); },
              ThrowsMessage<Error>(
                  "unknown compute dtype 'float12'; expected one of: float16, bfloat16, tf32"));
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

TEST(ErrorOfNodes, IsOfTheSizeOfARounding) {
  const at::Tensor x = at::randn({64, 64});
  for (const Arithmetic arithmetic : kArithmetics) {
    const at::Tensor rounded = round_to(arithmetic, x);
    const OwnError verdict = judge_error(compare_errors(rounded, rounded, x.to(at::kDouble)),
                                         {.unit = rounding_unit(arithmetic)});
    EXPECT_EQ(verdict.problem, "");
    EXPECT_NEAR(verdict.rms_ratio, 1, 0.05);
    EXPECT_EQ(verdict.slope, 0);
  }
}

// In units of a rounding: the limits of docs/verdict.md times the allowance for few elements, of
// which a rounding has 0.4 as its RMS error, and 0.5 as its greatest.
TEST(JudgeError, HasTheLimitsOfTheVerdict) {
  constexpr double kUnit = 0x1p-11;
  const ErrorKind narrow{.unit = kUnit};
  const ErrorKind wide{.unit = kUnit, .adds_in_unit = true};
  const ErrorKind output{.unit = kUnit, .is_accumulated = true};
  const ErrorKind wide_output{.unit = kUnit, .adds_in_unit = true, .is_accumulated = true};
  struct Limit {
    ErrorKind kind;
    int64_t num_elements;
    double ErrorFigures::* figure;
    double limit;
    std::string begin;
    std::string end;
  };
  const std::string rms = "an RMS error of ";
  const std::string max = "a max. error of ";
  const std::string systematic = "a systematic error; its values are ";
  const std::string shifted = systematic + "shifted by ";
  using Figures = ErrorFigures;
  const Limit limits[] = {
      {narrow, 10000, &Figures::rms, 0.4 * 3.06, rms, " roundings; the limit is 3.06"},
      {narrow, 10000, &Figures::max, 0.5 * 6.12, max, " roundings; the limit is 6.12"},
      {narrow, 10000, &Figures::slope, 0.75 * 1.02, systematic, " % too large"},
      {narrow, 10000, &Figures::slope, -0.75 * 1.02, systematic, " % too small"},
      {narrow, 10000, &Figures::mean, 1.02, shifted, " % of their RMS"},
      {narrow, 10000, &Figures::mean, -1.02, shifted + "-", " % of their RMS"},
      {narrow, 64, &Figures::rms, 0.4 * 3.75, rms, " roundings; the limit is 3.75"},
      {narrow, 2, &Figures::rms, 0.4 * 3.75, rms, " roundings; the limit is 3.75"},
      {wide, 10000, &Figures::rms, 0.4 * 16.32, rms, " roundings; the limit is 16.3"},
      {wide, 10000, &Figures::max, 0.5 * 32.64, max, " roundings; the limit is 32.6"},
      {wide, 10000, &Figures::slope, 16.32, systematic, " % too large"},
      {wide, 10000, &Figures::mean, 16.32, shifted, " % of their RMS"},
      {output, 64, &Figures::rms, 4, rms, " times eager's; the limit is 4"},
      {output, 64, &Figures::max, 8, max, " times eager's; the limit is 8"},
      {output, 63, &Figures::rms, 5, rms, " times eager's; the limit is 5"},
      {wide_output, 64, &Figures::rms, 4, rms, " times eager's; the limit is 4"},
      {wide_output, 63, &Figures::rms, 16, rms, " times eager's; the limit is 16"},
  };
  for (const Limit& it : limits) {
    ErrorComparison errors{.num_compared = it.num_elements, .value_rms = 1, .value_max = 1};
    errors.run.*it.figure = 0.999 * it.limit * kUnit;
    EXPECT_EQ(judge_error(errors, it.kind).problem, "");
    errors.run.*it.figure = 1.001 * it.limit * kUnit;
    EXPECT_THAT(judge_error(errors, it.kind).problem,
                AllOf(StartsWith(it.begin), EndsWith(it.end)));
  }
  // Chance explains a systematic error of less than six standard deviations.
  ErrorComparison errors{.num_compared = 64, .value_rms = 1, .value_max = 1};
  errors.run.rms = 1.4 * kUnit;
  errors.run.slope = 6 * 1.4 / 8 * kUnit * 0.99;
  EXPECT_EQ(judge_error(errors, narrow).problem, "");
  errors.run.slope = 6 * 1.4 / 8 * kUnit * 1.01;
  EXPECT_THAT(judge_error(errors, narrow).problem, StartsWith(systematic));
  // As much as the eager lane's is none.
  errors.eager.slope = errors.run.slope;
  EXPECT_EQ(judge_error(errors, narrow).problem, "");
}

TEST(ErrorOfNodes, AllowsForSteps) {
  const at::Tensor x = at::randn({256}).to(at::kDouble);
  const at::Tensor steps = x.div(0.1).round().mul(0.1);
  const ErrorComparison errors = compare_errors(steps, round_to(Arithmetic::kFloat16, x), x);
  EXPECT_EQ(judge_error(errors, {.unit = 0x1p-11, .step = 0.1}).problem, "");
  EXPECT_NE(judge_error(errors, {.unit = 0x1p-11}).problem, "");
}

TEST(ErrorOfOutputs, IsInUnitsOfTheEagerLanesAndAtMostHalfOfTheValue) {
  const auto problem = [](const ErrorComparison& errors) {
    return judge_error(errors, {.unit = 0x1p-11, .is_accumulated = true}).problem;
  };
  ErrorComparison errors{.num_compared = 100,
                         .value_rms = 1,
                         .value_max = 3,
                         .run = {.rms = 0.08, .max = 0.1},
                         .eager = {.rms = 0.02, .max = 0.05}};
  EXPECT_EQ(problem(errors), "");
  errors.run.rms = 0.09;
  EXPECT_EQ(problem(errors), "an RMS error of 4.5 times eager's; the limit is 4");
  EXPECT_EQ(problem(compare_errors(doubles({0}), doubles({-1.64}), doubles({-2.34}))),
            "an SNR of 0 dB; the limit is 6 dB");
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
  // Most of them are masked: there is no quarter of finite ones.
  const at::Tensor masked = exact.clone();
  masked.slice(0, 0, 1000).fill_(-kInf);
  EXPECT_EQ(unexplained(masked.add(noise), masked.sub(noise), masked), "");
}

}  // namespace
}  // namespace torch_ir
