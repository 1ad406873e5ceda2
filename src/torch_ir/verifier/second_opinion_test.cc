#include "torch_ir/verifier/second_opinion.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "torch_ir/runtime/testing/eager_graph.h"
#include "torch_ir/verifier/testing/doubles.h"
#include "torch_ir/verifier/verdict.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;

TEST(SecondOpinion, MeasuresErrorsByTheGreatestElement) {
  const SecondOpinion opinion =
      second_opinion(doubles({4, 1.5, 0.25}).to(at::kFloat), doubles({4, 1.125, 0}).to(at::kFloat),
                     doubles({4, 1, 0}));
  EXPECT_EQ(opinion.executor_error, 0.125);
  EXPECT_EQ(opinion.eager_error, 0.03125);
  EXPECT_EQ(opinion.factor, 4);
  EXPECT_EQ(opinion_text(opinion), "worse than eager by a factor of 4");
}

TEST(SecondOpinion, NamesEagerWhereItIsTheInaccurateOne) {
  const SecondOpinion opinion = second_opinion(doubles({1.125}), doubles({2}), doubles({1}));
  EXPECT_EQ(opinion.factor, 0.125);
  EXPECT_EQ(opinion_text(opinion), "eager is the inaccurate one, by a factor of 8");
}

TEST(SecondOpinion, TakesRoundingAsExact) {
  const at::Tensor exact = doubles({1, 0.5});
  const at::Tensor eager = exact.to(at::kBFloat16);
  EXPECT_EQ(second_opinion(eager, eager, exact).factor, 1);
  // bfloat16 has 8 bits: half a unit in the last place of 1 is 2^-8.
  const SecondOpinion rounded = second_opinion(doubles({1, 0.5 + 0x1p-8}), eager, exact);
  EXPECT_EQ(rounded.executor_error, 0x1p-8);
  EXPECT_EQ(rounded.factor, 1);
  EXPECT_EQ(second_opinion(doubles({1, 0.5 + 0x1p-5}), eager, exact).factor, 8);
}

TEST(SecondOpinion, TakesTheLeastNumbersAsTheyAre) {
  const at::Tensor exact = doubles({0x1p-23});
  // The least number of float16 is 2^-24.
  const SecondOpinion opinion = second_opinion(doubles({0x1p-24}), exact.to(at::kHalf), exact);
  EXPECT_EQ(opinion.executor_error, 0.5);
  EXPECT_EQ(opinion.factor, 2);
}

TEST(SecondOpinion, KnowsTheRoundingOfEachFloat8Dtype) {
  const at::Tensor exact = doubles({1, 0.5});
  for (const auto& [dtype, half_step] : {std::pair(at::kFloat8_e4m3fn, 0x1p-4),
                                         {at::kFloat8_e4m3fnuz, 0x1p-4},
                                         {at::kFloat8_e5m2, 0x1p-3},
                                         {at::kFloat8_e5m2fnuz, 0x1p-3},
                                         {at::kFloat8_e8m0fnu, 0x1p-1}}) {
    const SecondOpinion opinion =
        second_opinion(doubles({1, 0.5 + 2 * half_step}), exact.to(dtype), exact);
    EXPECT_EQ(opinion.reason, "");
    EXPECT_EQ(opinion.factor, 2) << dtype;
  }
}

TEST(SecondOpinion, TellsWhatIsNotFinite) {
  const at::Tensor exact = doubles({1, kInf, kNan, 4});
  const SecondOpinion worse =
      second_opinion(doubles({kNan, kInf, kNan, 4}), doubles({1, kInf, kNan, 4}), exact);
  EXPECT_EQ(worse.executor_non_finite, 1);
  EXPECT_EQ(worse.eager_non_finite, 0);
  EXPECT_EQ(worse.factor, kInf);
  EXPECT_THAT(opinion_text(worse),
              HasSubstr("worse than eager: mismatched NaN or infinite elements: 1 (eager: 0)"));
  const SecondOpinion better =
      second_opinion(doubles({1, kInf, kNan, 4}), doubles({1, -kInf, kNan, kInf}), exact);
  EXPECT_EQ(better.eager_non_finite, 2);
  EXPECT_EQ(better.factor, 0);
  EXPECT_THAT(
      opinion_text(better),
      HasSubstr("eager is the inaccurate one: mismatched NaN or infinite elements of eager: 2"));
}

TEST(SecondOpinion, ComparesIntegersExactly) {
  const at::Tensor index = at::ones({2}, at::kLong);
  EXPECT_EQ(second_opinion(index, index, index).factor, 1);
  EXPECT_EQ(second_opinion(index + 1, index, index).factor, kInf);
  // Next to each other as doubles.
  for (const int64_t large : {int64_t{1} << 60, std::numeric_limits<int64_t>::max() - 1}) {
    const at::Tensor exact = at::full({2}, large, at::kLong);
    EXPECT_EQ(second_opinion(exact + 1, exact, exact).factor, kInf);
    EXPECT_EQ(second_opinion(exact + 1, exact, exact).executor_error,
              1 / static_cast<double>(large));
  }
}

TEST(Judge, NeverTakesUnequalIntegersForRight) {
  const at::Tensor exact = at::full({2}, int64_t{1} << 60, at::kLong);
  const SecondOpinion near{.factor = 1};
  for (const ReferenceKind reference : {ReferenceKind::kAuto, ReferenceKind::kFloat64}) {
    const Criterion criterion{.reference = reference};
    const ValueVerdict verdict = judge(compare_tensors(exact + 100, exact), &near, criterion);
    EXPECT_EQ(verdict.basis, Basis::kNone);
    EXPECT_THAT(verdict.problem, HasSubstr("max abs. error 100, "));
    EXPECT_THAT(verdict.problem, HasSubstr("1152921504606847076, expected 1152921504606846976"));
    const at::Tensor yes = at::ones({2}, at::kBool);
    EXPECT_EQ(judge(compare_tensors(~yes, yes), &near, criterion).basis, Basis::kNone);
    EXPECT_NE(judge(compare_tensors(exact, exact), &near, criterion).basis, Basis::kNone);
    const Tolerance own{.rtol = 0, .atol = 100};
    EXPECT_NE(judge(compare_tensors(exact + 100, exact, own), &near, criterion).basis,
              Basis::kNone);
  }
}

TEST(SecondOpinion, HasNothingToSayOfNothing) {
  const at::Tensor empty = at::zeros({0, 3});
  EXPECT_EQ(second_opinion(empty, empty, empty.to(at::kDouble)).factor, 1);
  EXPECT_NE(second_opinion(empty, at::Tensor(), empty).reason, "");
  EXPECT_EQ(opinion_text(second_opinion(at::zeros({2}), empty, empty)),
            "no second opinion: the graph gives shape [2], but float64 gives [0, 3]");
}

// Four elements of eager may be exact by chance; many, and those of narrower dtypes, are not.
TEST(SecondOpinion, TakesFewElementsForNoBetterThanTheirSums) {
  const auto factor = [](int64_t count, c10::ScalarType dtype, double unit) {
    const at::Tensor exact = at::ones({count}, at::kDouble);
    const at::Tensor eager = exact.to(dtype);
    return second_opinion(eager.mul(1 + 8 * unit), eager, exact).factor;
  };
  EXPECT_EQ(factor(4, at::kFloat, 0x1p-24), 2);
  EXPECT_EQ(factor(64, at::kFloat, 0x1p-24), 8);
  EXPECT_EQ(factor(4, at::kBFloat16, 0x1p-8), 8);
}

// A product, in eager and by an executor that adds in the worst way for float16.
TEST(OpinionProblem, IsThereUnlessTheOpinionIsGoodEnough) {
  EXPECT_EQ(opinion_problem({.factor = 4}, 4), "");
  EXPECT_NE(opinion_problem({.factor = 4.5}, 4), "");
  EXPECT_EQ(opinion_problem({.reason = "it draws random numbers"}, 4),
            "no second opinion: it draws random numbers");
}

TEST(SecondOpinions, JudgeEachOutput) {
  EagerGraph graph;
  const V a = graph.input("a", at::randn({8, 64}));
  const V b = graph.weight("b", at::randn({64, 8}));
  const V product = graph.call1("aten.matmul.default", {a, b});
  graph.output(product);
  graph.output(graph.call1("aten.argmax.default", {product, 1}));
  const std::vector<at::Tensor> eager = graph.expected();
  const at::Tensor rough = at::matmul(graph.inputs[0].to(at::kBFloat16).to(at::kFloat),
                                      graph.weights["b"].to(at::kBFloat16).to(at::kFloat));
  const std::vector<SecondOpinion> opinions =
      second_opinions(graph.as_case(), {rough, eager[1]}, eager);
  ASSERT_EQ(opinions.size(), 2);
  const at::Tensor exact =
      at::matmul(graph.inputs[0].to(at::kDouble), graph.weights["b"].to(at::kDouble));
  const double scale = exact.abs().max().item<double>();
  EXPECT_EQ(opinions[0].eager_error, (eager[0] - exact).abs().max().item<double>() / scale);
  EXPECT_EQ(opinions[0].executor_error, (rough - exact).abs().max().item<double>() / scale);
  EXPECT_GT(opinions[0].factor, 1000);
  EXPECT_EQ(opinions[1], SecondOpinion());
}

TEST(SecondOpinions, SayWhyThereIsNone) {
  EagerGraph graph;
  const V x = graph.input("x", at::ones({4}));
  graph.output(graph.call1("aten.rand_like.default", {x}));
  const std::vector<SecondOpinion> opinions =
      second_opinions(graph.as_case(), graph.expected(), graph.expected());
  ASSERT_EQ(opinions.size(), 1);
  EXPECT_EQ(opinion_text(opinions[0]),
            "no second opinion: node 'n0' (aten.rand_like.default) draws random numbers");
}

}  // namespace
}  // namespace torch_ir
