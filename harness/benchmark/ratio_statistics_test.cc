#include "harness/benchmark/ratio_statistics.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace torch_ir {
namespace {

// Estimates from 1, 2, ..., n.
Estimate of_first(int n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1);
  return estimate_ratio(values, std::vector<double>(n, 1));
}

// The ranks that tables of the sign test give.
TEST(EstimateRatio, HasTheIntervalOfOrderStatistics) {
  EXPECT_EQ(of_first(6).low, 1);
  EXPECT_EQ(of_first(6).high, 6);
  EXPECT_EQ(of_first(9).low, 2);
  EXPECT_EQ(of_first(9).high, 8);
  EXPECT_EQ(of_first(15).low, 4);
  EXPECT_EQ(of_first(15).median, 8);
  EXPECT_EQ(of_first(15).high, 12);
  EXPECT_EQ(of_first(20).low, 6);
  EXPECT_EQ(of_first(20).high, 15);
  EXPECT_EQ(of_first(100).low, 40);
  EXPECT_EQ(of_first(100).median, 50.5);
  EXPECT_EQ(of_first(100).high, 61);
}

TEST(EstimateRatio, IsAllRoundsWhereTheyAreFew) {
  EXPECT_EQ(of_first(1).low, 1);
  EXPECT_EQ(of_first(1).high, 1);
  EXPECT_EQ(of_first(2).median, 1.5);
  EXPECT_EQ(of_first(5).low, 1);
  EXPECT_EQ(of_first(5).high, 5);
}

// The expected values are NumPy's.
TEST(EstimateRatio, PairsTheRounds) {
  const std::vector<double> times = {2.61, 2.62, 2.03, 1.57, 1.11, 1.77, 1.82, 1.09,
                                     1.1,  3.0,  2.3,  1.47, 1.87, 2.95, 2.8};
  const std::vector<double> base = {3.69, 2.78, 2.99, 3.35, 2.12, 3.11, 2.54, 3.76,
                                    2.13, 3.36, 3.74, 2.45, 3.79, 3.74, 2.04};
  const Estimate estimate = estimate_ratio(times, base);
  EXPECT_DOUBLE_EQ(estimate.low, 0.5164319248826291);
  EXPECT_DOUBLE_EQ(estimate.median, 0.6149732620320855);
  EXPECT_DOUBLE_EQ(estimate.high, 0.7887700534759359);
}

TEST(EstimateRatio, LeavesOutRoundsOfOneSide) {
  const Estimate estimate = estimate_ratio({1, 2, 100}, {2, 4});
  EXPECT_EQ(estimate.low, 0.5);
  EXPECT_EQ(estimate.high, 0.5);
}

TEST(GeometricMean, IsTheRootOfTheProduct) {
  EXPECT_DOUBLE_EQ(geometric_mean({0.25, 4}), 1);
  EXPECT_DOUBLE_EQ(geometric_mean({0.5}), 0.5);
  EXPECT_NEAR(geometric_mean({0.2, 0.4, 0.9}), 0.41601676461038104, 1e-15);
}

}  // namespace
}  // namespace torch_ir
