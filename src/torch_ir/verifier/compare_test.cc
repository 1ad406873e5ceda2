#include "torch_ir/verifier/compare.h"

#include <ATen/ops/zeros_like.h>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <cmath>
#include <sstream>

#include "torch_ir/verifier/testing/tensors.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string text(const TensorComparison& comparison) {
  std::ostringstream stream;
  stream << comparison;
  return stream.str();
}

// torch.isclose(a, e, rtol, atol, equal_nan=True) of Python's torch 2.13 for all pairs of these
// values: a row for each a, in it for each e whether they are close under each of kTolerances.
const std::array<double, 13> kValues = {0.0,    -0.0,  1.0,    1.000001, 1.0001, -1.0, 1e300,
                                        -1e308, 1e308, 5e-324, kInf,     -kInf,  kNan};
const std::array<Tolerance, 4> kTolerances = {{{0, 0}, {1e-5, 1e-5}, {1e-3, 0}, {0, 0.5}}};
const std::array<const char*, 13> kIsClose = {
    "1111 1111 0000 0000 0000 0000 0000 0000 0000 0101 0000 0000 0000",
    "1111 1111 0000 0000 0000 0000 0000 0000 0000 0101 0000 0000 0000",
    "0000 0000 1111 0111 0011 0000 0000 0000 0000 0000 0000 0000 0000",
    "0000 0000 0111 1111 0011 0000 0000 0000 0000 0000 0000 0000 0000",
    "0000 0000 0011 0011 1111 0000 0000 0000 0000 0000 0000 0000 0000",
    "0000 0000 0000 0000 0000 1111 0000 0000 0000 0000 0000 0000 0000",
    "0000 0000 0000 0000 0000 0000 1111 0000 0000 0000 0000 0000 0000",
    "0000 0000 0000 0000 0000 0000 0000 1111 0000 0000 0000 0000 0000",
    "0000 0000 0000 0000 0000 0000 0000 0000 1111 0000 0000 0000 0000",
    "0101 0101 0000 0000 0000 0000 0000 0000 0000 1111 0000 0000 0000",
    "0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 1111 0000 0000",
    "0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 1111 0000",
    "0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 1111",
};

TEST(CompareTensors, AgreesWithPythonsIsclose) {
  for (size_t a = 0; a < kValues.size(); ++a) {
    for (size_t e = 0; e < kValues.size(); ++e) {
      for (size_t t = 0; t < kTolerances.size(); ++t) {
        const bool expected = kIsClose[a][e * 5 + t] == '1';
        EXPECT_EQ(
            compare_tensors(doubles(kValues[a]), doubles(kValues[e]), kTolerances[t]).is_close,
            expected)
            << kValues[a] << " against " << kValues[e] << ", tolerance " << t;
      }
    }
  }
}

// The printed tolerance is the smallest: it passes, and the next smaller number does not.
TEST(CompareTensors, FindsTheSmallestPassingTolerance) {
  for (const double a : kValues) {
    for (const double e : kValues) {
      const double t = compare_tensors(doubles(a), doubles(e)).smallest_passing_tolerance;
      const auto passes = [&](double tolerance) {
        return compare_tensors(doubles(a), doubles(e), {tolerance, tolerance}).is_close;
      };
      if (std::isinf(t)) {
        EXPECT_FALSE(passes(1e300)) << a << " against " << e;
      } else {
        EXPECT_TRUE(passes(t)) << a << " against " << e;
        EXPECT_TRUE(t < 1e-300 || !passes(t * (1 - 1e-15))) << a << " against " << e;
      }
    }
  }
}

// The worst element is the furthest outside the tolerance, not the one with the largest difference.
TEST(CompareTensors, NamesTheElementFurthestOutsideTheTolerance) {
  const TensorComparison result =
      compare_tensors(doubles({1e9 + 100, 0.5}), doubles({1e9, 0}), {1e-5, 1e-5});
  EXPECT_EQ(result.max_diff, 100);
  EXPECT_EQ(result.num_mismatched, 1);
  EXPECT_THAT(result.worst_index, ElementsAre(1));
}

TEST(CompareTensors, SaysWhichNumbersAreNotFinite) {
  const TensorComparison infinite = compare_tensors(doubles({1, kInf}), doubles({9, 2}));
  EXPECT_EQ(infinite.max_diff, kInf);
  EXPECT_EQ(infinite.mean_diff, kInf);
  EXPECT_EQ(infinite.smallest_passing_tolerance, kInf);
  EXPECT_THAT(infinite.worst_index, ElementsAre(1));

  const TensorComparison nan = compare_tensors(doubles({kInf, 1, 7}), doubles({0, kNan, 0}));
  EXPECT_TRUE(std::isnan(nan.max_diff));
  EXPECT_TRUE(std::isnan(nan.mean_diff));
  EXPECT_EQ(nan.num_mismatched, 3);
  EXPECT_THAT(nan.worst_index, ElementsAre(1));
  EXPECT_EQ(nan.worst_expected, "nan");

  // A NaN with its sign bit set is written like any other.
  const double negative = std::copysign(kNan, -1);
  const TensorComparison negative_nan = compare_tensors(doubles({negative}), doubles({2}));
  EXPECT_EQ(negative_nan.worst_actual, "nan");
  EXPECT_THAT(text(negative_nan), testing::Not(HasSubstr("-nan")));
  const at::Tensor complex = at::complex(doubles({negative}), doubles({negative}));
  EXPECT_EQ(compare_tensors(complex, at::zeros_like(complex)).worst_actual, "nan+nanj");
}

TEST(CompareTensors, RefusesOtherShapesAndDtypes) {
  const auto mismatch = [](const at::Tensor& a, const at::Tensor& e) {
    const TensorComparison result = compare_tensors(a, e);
    EXPECT_FALSE(result.is_close);
    EXPECT_EQ(result.smallest_passing_tolerance, kInf);
    return result.mismatch;
  };
  EXPECT_EQ(mismatch(at::zeros({1, 4}), at::zeros({1, 8})), "shape [1, 4], expected [1, 8]");
  EXPECT_EQ(mismatch(at::zeros({1}), at::zeros({})), "shape [1], expected []");
  EXPECT_EQ(mismatch(at::zeros({2}), at::zeros({2}, at::kHalf)), "dtype float32, expected float16");
  EXPECT_EQ(mismatch(at::Tensor(), at::zeros({2})), "None, expected a tensor");
  EXPECT_EQ(mismatch(at::zeros({2}), at::Tensor()), "a tensor, expected None");
  EXPECT_EQ(mismatch(at::zeros({2}), at::zeros({2}, at::kMeta)),
            "a meta tensor, which has no values");
}

TEST(CompareTensors, ComparesIntegersBeyondTheDoublesAndBooleans) {
  const auto expect = [](const at::Tensor& a, const at::Tensor& e, double difference,
                         const std::string& actual, const std::string& expected) {
    const TensorComparison result = compare_tensors(a, e, {0, 0});
    EXPECT_EQ(result.max_diff, difference);
    EXPECT_EQ(result.num_mismatched, 1);
    EXPECT_EQ(result.worst_actual, actual);
    EXPECT_EQ(result.worst_expected, expected);
  };
  const auto whole = [](int64_t number) { return at::scalar_tensor(number, at::kLong); };
  const auto natural = [&](int64_t bits) { return whole(bits).view(at::ScalarType::UInt64); };
  const int64_t big = (int64_t{1} << 53) + 1;
  expect(whole(big), whole(big - 1), 1, "9007199254740993", "9007199254740992");
  expect(whole(std::numeric_limits<int64_t>::min()), whole(std::numeric_limits<int64_t>::max()),
         std::ldexp(1.0, 64), "-9223372036854775808", "9223372036854775807");
  expect(natural(-1), natural(1), std::ldexp(1.0, 64), "18446744073709551615", "1");
  expect(at::tensor({1, 0}).to(at::kBool), at::tensor({1, 1}).to(at::kBool), 1, "False", "True");
}

// An index into a vocabulary is right or wrong.
TEST(CompareTensors, ComparesIntegersExactlyUnlessGivenATolerance) {
  const at::Tensor actual = at::tensor({7, 50'001}, at::kLong);
  const at::Tensor expected = at::tensor({7, 50'000}, at::kLong);
  const TensorComparison exact = compare_tensors(actual, expected);
  EXPECT_FALSE(exact.is_close);
  EXPECT_EQ(exact.num_mismatched, 1);
  EXPECT_EQ(exact.smallest_passing_tolerance, kInf);
  EXPECT_EQ(text(exact),
            "1 of 2 elements mismatched (50 %): max abs. error 1, mean abs. error 0.5, max "
            "relative error 2e-05; worst at [1]: 50001, expected 50000; no tolerance passes");
  const TensorComparison loose = compare_tensors(actual, expected, {0, 1});
  EXPECT_TRUE(loose.is_close);
  EXPECT_THAT(text(loose), EndsWith("smallest passing tolerance 2e-05"));
  EXPECT_TRUE(compare_tensors(expected, expected).is_close);
}

TEST(CompareTensors, ComparesComplexNumbersByModulus) {
  const at::Tensor a = at::complex(doubles({3, 1, kInf}), doubles({4, kNan, 1}));
  const at::Tensor e = at::complex(doubles({0, kNan, kInf}), doubles({0, 1, 1}));
  const TensorComparison result = compare_tensors(a, e);
  EXPECT_EQ(result.num_mismatched, 1) << "NaN in either part is NaN, equal infinities are equal";
  EXPECT_EQ(result.max_diff, 5);
  EXPECT_EQ(result.worst_actual, "3+4j");
  EXPECT_EQ(result.worst_expected, "0+0j");
  EXPECT_EQ(compare_tensors(at::complex(doubles(kInf), doubles(1)),
                            at::complex(doubles(kInf), doubles(2)))
                .max_diff,
            kInf);
  EXPECT_TRUE(compare_tensors(a.conj(), a.conj().resolve_conj()).is_close);
}

// Tensors of more than one block, whatever dimension it ends in.
TEST(CompareTensors, FindsTheWorstElementOfLargeTensors) {
  const std::vector<int64_t> shapes[] = {
      {300000}, {1, 300000}, {3, 1, 100000}, {300000, 1}, {7, 11, 13, 300}};
  for (const std::vector<int64_t>& shape : shapes) {
    const at::Tensor e = at::zeros(shape);
    const at::Tensor a = at::zeros(shape);
    a.view(-1)[a.numel() - 2] = 0.25;
    a.view(-1)[70000] = 0.5;
    const TensorComparison result = compare_tensors(a, e);
    EXPECT_EQ(result.num_mismatched, 2);
    int64_t flat = 0;
    for (size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i] + result.worst_index[i];
    EXPECT_EQ(flat, 70000);
    EXPECT_EQ(result.mean_diff, 0.75 / static_cast<double>(a.numel()));
  }
}

TEST(CompareTensors, NeedsLittleMemoryOfItsOwn) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer keeps what is freed";
#endif
  const auto peak = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;  // kB
  };
  const at::Tensor a = at::full({4096, 4096}, 1.0f);
  const at::Tensor e = at::full({4096, 4096}, 1.5f).t();
  const long before = peak();
  EXPECT_EQ(compare_tensors(a, e).num_mismatched, 4096 * 4096);
  EXPECT_LT(peak() - before, 16 * 1024) << "the tensors have 64 MB each";
}

TEST(CompareTensors, Prints) {
  EXPECT_EQ(
      text(compare_tensors(doubles({1, 2}), doubles({1, 2.0000001}))),
      "close: max abs. error 1e-07, mean abs. error 5e-08, smallest passing tolerance 3.34e-08");
  EXPECT_EQ(
      text(compare_tensors(doubles({1, 2.5}), doubles({1, 2}))),
      "1 of 2 elements mismatched (50 %): max abs. error 0.5, mean abs. error 0.25, max relative "
      "error 0.25, max 1125899906842624 ULP; worst at [1]: 2.5, expected 2; smallest passing "
      "tolerance 0.167");
  EXPECT_EQ(text(compare_tensors(doubles({kNan}), doubles({2}))),
            "1 of 1 elements mismatched (100 %): max abs. error nan, mean abs. error nan, max "
            "relative error nan; worst at [0]: nan, expected 2; no tolerance passes");
  EXPECT_EQ(text(compare_tensors(doubles({1}), doubles({1, 2}))), "shape [1], expected [2]");
  // No share is rounded to none or all of them.
  const at::Tensor zeros = at::zeros({100000});
  const at::Tensor ones = at::full({100000}, 1.0f);
  const at::Tensor one = zeros.clone();
  one[5] = 1;
  EXPECT_THAT(text(compare_tensors(one, zeros)),
              HasSubstr("1 of 100000 elements mismatched (<0.01 %)"));
  EXPECT_THAT(text(compare_tensors(ones, one)),
              HasSubstr("99999 of 100000 elements mismatched (>99.9 %)"));
}

}  // namespace
}  // namespace torch_ir
