// The metrics of comparisons against those of numpy and Python's torch, computed by definition:
// numpy.linalg.norm for the cosine, and for distances in representable numbers the positions in the
// sorted list of all finite values of the dtype (of float32 and float64, the integers of their
// bits).
#include <gmock/gmock.h>

#include <cmath>

#include "torch_ir/ir/dtype.h"
#include "torch_ir/verifier/testing/tensors.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using enum at::ScalarType;

// NaN and the infinities equal themselves; other metrics are those of numpy to 13 digits.
void expect_metric(double metric, double expected) {
  if (std::isfinite(expected)) {
    EXPECT_NEAR(metric, expected, 1e-13 * std::max(1.0, std::abs(expected)));
  } else {
    EXPECT_TRUE(metric == expected || (std::isnan(metric) && std::isnan(expected)))
        << metric << ", expected " << expected;
  }
}

struct Metrics {
  double max_relative_diff;
  double root_mean_square_diff;
  double cosine_similarity;
  double signal_to_noise;
  std::optional<uint64_t> max_ulp_diff = std::nullopt;
};

void expect_metrics(const at::Tensor& actual, const at::Tensor& expected, const Metrics& metrics) {
  SCOPED_TRACE(dtype_name(expected.scalar_type()));
  const TensorComparison result = compare_tensors(actual, expected);
  expect_metric(result.max_relative_diff, metrics.max_relative_diff);
  expect_metric(result.root_mean_square_diff, metrics.root_mean_square_diff);
  expect_metric(result.cosine_similarity, metrics.cosine_similarity);
  expect_metric(result.signal_to_noise, metrics.signal_to_noise);
  EXPECT_EQ(result.max_ulp_diff, metrics.max_ulp_diff);
  int64_t sum = 0;
  for (const int64_t count : result.histogram) sum += count;
  EXPECT_EQ(sum, actual.numel());
}

TEST(ComparisonMetrics, AreThoseOfNumpyForFloats) {
  const at::Tensor a = doubles({1, -2.5, 0.1, 3e3, -0.0, 7, 1e-3, 0});
  const at::Tensor e = doubles({1.001, -2.5, 0.1003, 2990, 0, -7, 1.1e-3, 1e-4});
  expect_metrics(
      a, e, {2, 6.082762541703399, 0.9999890747265407, 44.8005339706568, 9239134635550572544U});
  const auto expect_in = [&](at::ScalarType type, const Metrics& metrics) {
    expect_metrics(a.to(type), e.to(type), metrics);
  };
  expect_in(Float, {2, 6.082762541704345, 0.9999890747265406, 44.80053397065549, 2176843776U});
  expect_in(Half, {2, 6.08276254125795, 0.9999890747265517, 44.80053397126821, 36352});
  expect_in(BFloat16, {2, 7.516648189351623, 0.9999891110128418, 42.9678747290705, 33216});
}

TEST(ComparisonMetrics, AreThoseOfNumpyForIntegers) {
  for (const at::ScalarType type : {Long, Int, Short, Char, Byte, UInt16, UInt32, UInt64}) {
    expect_metrics(at::tensor({1, 2, 3, 0, 120}).to(type), at::tensor({1, 4, 3, 5, 100}).to(type),
                   {1, 9.262828941527529, 0.9984706522852286, 13.697519808032904});
  }
  expect_metrics(at::tensor({1, 0, 1, 0}).to(Bool), at::tensor({1, 1, 0, 0}).to(Bool),
                 {1, 0.7071067811865476, 0.5, 0});
}

TEST(ComparisonMetrics, AreThoseOfNumpyForComplexNumbers) {
  expect_metrics(at::complex(doubles({1, 3, 0}), doubles({2, -4, 0})),
                 at::complex(doubles({1, -3, 0}), doubles({2.5, -4, 1})),
                 {1.2, 3.5237290853109955, 0.41161093145984723, -0.4933462744518823});
}

TEST(ComparisonMetrics, SayWhatIsNotFinite) {
  const auto expect_of = [](at::ArrayRef<double> a, at::ArrayRef<double> e,
                            const Metrics& metrics) {
    expect_metrics(doubles(a), doubles(e), metrics);
  };
  // Equal elements change nothing but the mean.
  const Metrics equal = {1.0 / 3, 0.5773502691896257, 0.9899494936611664, 10, 1ULL << 51};
  expect_of({kInf, 1, 2}, {kInf, 1, 3}, equal);
  expect_of({kNan, 1, 2}, {kNan, 1, 3}, equal);
  expect_of({kInf, 1}, {1, 1}, {kInf, kInf, kNan, -kInf});
  expect_of({kNan, 1}, {2, 1}, {kNan, kNan, kNan, -kInf});
  expect_of({1, 1}, {kInf, 2}, {0.5, kInf, kNan, -kInf});
  expect_of({1, 1}, {kNan, 2}, {0.5, kNan, kNan, -kInf});
  expect_of({kInf}, {-kInf}, {0, kInf, kNan, -kInf});
  expect_of({kNan}, {2}, {kNan, kNan, kNan, -kInf});
}

TEST(ComparisonMetrics, OfEqualTensors) {
  const Metrics none = {0, 0, 1, kInf};
  Metrics floats = none;
  floats.max_ulp_diff = 0;
  expect_metrics(doubles({1, kNan, -kInf}), doubles({1, kNan, -kInf}), floats);
  expect_metrics(doubles({0.0}), doubles({-0.0}), floats);
  expect_metrics(at::empty({0, 3}), at::empty({0, 3}), floats);
  expect_metrics(at::scalar_tensor(2.5), at::scalar_tensor(2.5), floats);
  expect_metrics(at::arange(3), at::arange(3), none);
}

TEST(ComparisonMetrics, OfZeros) {
  expect_metrics(doubles({0, 1}), doubles({0, 0}), {0, std::sqrt(0.5), 0, -kInf, 1023ULL << 52});
  expect_metrics(doubles({0, 0}), doubles({0, 1}), {1, std::sqrt(0.5), 0, 0, 1023ULL << 52});
  expect_metrics(doubles({1}), doubles({-1}), {2, 2, -1, -6.020599913279624, 2046ULL << 52});
}

// Neighbours are 1 apart; between the least and the greatest lie all finite numbers.
TEST(ComparisonMetrics, CountRepresentableNumbers) {
  const auto ulps = [](at::ScalarType type, double a, double e) {
    return compare_tensors(doubles(a).to(type), doubles(e).to(type)).max_ulp_diff;
  };
  EXPECT_EQ(ulps(Double, 1, std::nextafter(1, 2)), 1);
  EXPECT_EQ(ulps(Double, 5e-324, -5e-324), 2);
  constexpr double kMax = std::numeric_limits<double>::max();
  EXPECT_EQ(ulps(Double, kMax, -kMax), 2 * ((2047ULL << 52) - 1));
  EXPECT_EQ(ulps(Float, 1, 1 + 0x1p-23), 1);
  EXPECT_EQ(ulps(Half, 1, 1 + 0x1p-10), 1);
  EXPECT_EQ(ulps(BFloat16, 1, 1 + 0x1p-7), 1);
  // Between two powers of two lie as many as the mantissa has values.
  EXPECT_EQ(ulps(Float8_e4m3fn, 16, 1), 32);
  EXPECT_EQ(ulps(Float8_e4m3fn, -0.5, 0.25), 88);
  EXPECT_EQ(ulps(Float8_e5m2, 16, 1), 16);
  EXPECT_EQ(ulps(Float8_e5m2, -0.5, 0.25), 108);
  EXPECT_EQ(ulps(Float8_e4m3fnuz, 16, 1), 32);
  EXPECT_EQ(ulps(Float8_e4m3fnuz, -0.5, 0.25), 104);
  EXPECT_EQ(ulps(Float8_e5m2fnuz, 16, 1), 16);
  EXPECT_EQ(ulps(Float8_e5m2fnuz, -0.5, 0.25), 116);
  EXPECT_EQ(ulps(Float8_e8m0fnu, 16, 1), 4);
  EXPECT_EQ(ulps(Float8_e8m0fnu, 0.25, 8), 5);
}

// Each limit itself belongs to the bin that it begins.
TEST(ComparisonMetrics, CountDifferencesByTheirSize) {
  const auto bin_of = [](double difference) {
    const auto& histogram = compare_tensors(doubles(difference), doubles(0)).histogram;
    return std::ranges::find(histogram, 1) - histogram.begin();
  };
  EXPECT_EQ(bin_of(0), 0);
  EXPECT_EQ(bin_of(5e-324), 1);
  int64_t bin = 1;
  for (const double limit : {1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2,
                             1e-1, 1e0, 1e1, 1e2, 1e3}) {
    EXPECT_EQ(bin_of(std::nextafter(limit, 0)), bin) << limit;
    EXPECT_EQ(bin_of(limit), ++bin) << limit;
    EXPECT_EQ(bin_of(-5 * limit), std::min<int64_t>(bin, 17)) << limit;
  }
  EXPECT_EQ(bin_of(kInf), 17);
  EXPECT_EQ(bin_of(kNan), 17);
  EXPECT_EQ(bin_of(std::numeric_limits<double>::max()), 17);
}

// NaN on one side does not count as a large number.
TEST(ComparisonMetrics, CountNanByItself) {
  const at::Tensor expected = at::tensor({1.0, kNan, kNan, 2.0, 3.0});
  const at::Tensor actual = at::tensor({kNan, kNan, 1.0, kInf, 3.0});
  EXPECT_EQ(compare_tensors(actual, expected).histogram.back(), 3);
  EXPECT_EQ(compare_tensors(actual, expected).num_nan, 2);
  EXPECT_EQ(compare_tensors(at::complex(actual, actual), at::complex(expected, expected)).num_nan,
            2);
  EXPECT_EQ(compare_tensors(expected, expected).num_nan, std::nullopt);
  EXPECT_EQ(compare_tensors(doubles(1e9), doubles(0)).num_nan, std::nullopt);
}

TEST(ComparisonMetrics, NameTheirBins) {
  std::vector<std::string> names;
  for (size_t bin = 0; bin < kHistogramBins; ++bin) names.push_back(histogram_bin_name(bin));
  EXPECT_THAT(names, ElementsAre("equal", "< 1e-12", "< 1e-11", "< 1e-10", "< 1e-9", "< 1e-8",
                                 "< 1e-7", "< 1e-6", "< 1e-5", "< 1e-4", "< 1e-3", "< 1e-2",
                                 "< 1e-1", "< 1e0", "< 1e1", "< 1e2", "< 1e3", ">= 1e3"));
}

// Tensors of several blocks, some of them equal, in any memory order.
TEST(ComparisonMetrics, SumOverBlocksAndStrides) {
  const at::Tensor e = at::arange(300000, at::kDouble).remainder(7).view({500, 600});
  const at::Tensor a = e.t().contiguous().t().clone(at::MemoryFormat::Preserve);
  a[499].add_(0.5);
  // numpy: 2e = arange(300000) % 7, noise 600 * 0.25.
  const double signal = e.square().sum().item<double>();
  const double noise = 600 * 0.25;
  const TensorComparison result = compare_tensors(a, e);
  EXPECT_DOUBLE_EQ(result.root_mean_square_diff, std::sqrt(noise / 300000));
  EXPECT_DOUBLE_EQ(result.signal_to_noise, 10 * std::log10(signal / noise));
  const double mixed = a.mul(e).sum().item<double>();
  EXPECT_NEAR(result.cosine_similarity,
              mixed / std::sqrt(signal) / std::sqrt(a.square().sum().item<double>()), 1e-13);
  EXPECT_EQ(result.histogram[0], 499 * 600);
  EXPECT_EQ(result.histogram[13], 600);
  EXPECT_EQ(result.max_relative_diff, 0.5);
  EXPECT_THAT(result.worst_index, ElementsAre(499, 4));
}

}  // namespace
}  // namespace torch_ir
