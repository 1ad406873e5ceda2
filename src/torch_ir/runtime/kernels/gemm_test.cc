#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include "torch_ir/runtime/kernels/families.h"

namespace torch_ir {
namespace {

// matrix_test checks the results; these tests check which products go to BLAS directly.
bool takes_mm(const at::Tensor& result, const at::Tensor& first, const at::Tensor& second) {
  const KernelCall call{c10::Dispatcher::singleton().findSchemaOrThrow("aten::mm", ""),
                        {first, second},
                        {false, false},
                        {result},
                        {true}};
  return prepare_mm_with_blas(call) != nullptr;
}

bool takes_addmm(const at::Tensor& added, const at::Scalar& beta) {
  const KernelCall call{c10::Dispatcher::singleton().findSchemaOrThrow("aten::addmm", ""),
                        {added, at::empty({2, 3}), at::empty({3, 4}), beta, 1},
                        {false, false, false, true, true},
                        {at::empty({2, 4})},
                        {true}};
  return prepare_addmm_with_blas(call) != nullptr;
}

class Gemm : public testing::Test {
 protected:
  void SetUp() override {
    const at::Tensor matrix = at::empty({2, 2});
    if (!takes_mm(matrix, matrix, matrix)) GTEST_SKIP() << "this LibTorch hides its BLAS";
  }
};

TEST_F(Gemm, TakesRowsAndColumns) {
  const at::Tensor first = at::empty({2, 3});
  const at::Tensor second = at::empty({3, 4});
  const at::Tensor result = at::empty({2, 4});
  EXPECT_TRUE(takes_mm(result, first, second));
  EXPECT_TRUE(takes_mm(result, first, at::empty({4, 3}).t()));
  EXPECT_TRUE(takes_mm(result, at::empty({3, 2}).t(), second));
  EXPECT_TRUE(takes_mm(at::empty({4, 2}).t(), first, second));
  // ATen copies these first: elements with gaps, and one for all rows.
  EXPECT_FALSE(takes_mm(result, at::empty({2, 6}).slice(1, 0, 6, 2), second));
  EXPECT_FALSE(takes_mm(result, at::empty({3}).expand({2, 3}), second));
  // Products of nothing.
  EXPECT_FALSE(takes_mm(result, at::empty({2, 0}), at::empty({0, 4})));
  EXPECT_FALSE(takes_mm(at::empty({0, 4}), at::empty({0, 3}), second));
  for (const at::ScalarType dtype :
       {at::kDouble, at::kHalf, at::kBFloat16, at::kLong, at::kComplexFloat}) {
    EXPECT_EQ(takes_mm(result.to(dtype), first.to(dtype), second.to(dtype)), dtype == at::kDouble);
  }
}

TEST_F(Gemm, AddsRowsAndMatrices) {
  EXPECT_TRUE(takes_addmm(at::empty({4}), 1));
  EXPECT_TRUE(takes_addmm(at::empty({1, 4}), 1));
  EXPECT_TRUE(takes_addmm(at::empty({2, 4}), 1));
  EXPECT_FALSE(takes_addmm(at::empty({2, 1}), 1));
  EXPECT_FALSE(takes_addmm(at::empty({}), 1));
  EXPECT_FALSE(takes_addmm(at::empty({4, 2}).t(), 1));
  // With a beta of 0, the matrix to add is ignored.
  EXPECT_TRUE(takes_addmm(at::empty({2, 1}), 0));
}

}  // namespace
}  // namespace torch_ir
