#include "harness/benchmark/benchmark_check.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torch_ir {
namespace {

using ::testing::HasSubstr;

TEST(BenchmarkCheck, AcceptsEqualOutputs) {
  const at::Tensor ones = at::ones({3});
  EXPECT_EQ(disagreement({ones}, {ones.clone()}, Agreement::kBits), "");
  EXPECT_EQ(disagreement({at::full({3}, 1.00005)}, {ones}, Agreement::kClose), "");
}

TEST(BenchmarkCheck, AsksForTheBits) {
  const at::Tensor zero = at::zeros({1});
  EXPECT_THAT(disagreement({at::full({1}, -0.0)}, {zero}, Agreement::kBits),
              HasSubstr("output 0 is not eager's bit for bit: "));
  EXPECT_EQ(disagreement({at::full({1}, -0.0)}, {zero}, Agreement::kClose), "");
}

TEST(BenchmarkCheck, SaysHowFarApartOutputsAre) {
  const at::Tensor ones = at::ones({1});
  EXPECT_THAT(disagreement({ones, at::full({1}, 1.5)}, {ones, ones}, Agreement::kClose),
              HasSubstr("output 1 is not eager's: "));
  EXPECT_THAT(disagreement({ones}, {at::ones({2})}, Agreement::kClose),
              HasSubstr("shape [1], expected [2]"));
}

TEST(BenchmarkCheck, CountsOutputs) {
  EXPECT_EQ(disagreement({}, {at::ones({1})}, Agreement::kClose), "0 outputs, and eager has 1");
}

}  // namespace
}  // namespace torch_ir
