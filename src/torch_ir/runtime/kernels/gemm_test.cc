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
  const at::Tensor result = at::empty({2, 4});
  EXPECT_TRUE(takes_mm(result, at::empty({2, 3}), at::empty({3, 4})));
  EXPECT_TRUE(takes_mm(result, at::empty({2, 3}), at::empty({4, 3}).t()));
  EXPECT_TRUE(takes_mm(result, at::empty({3, 2}).t(), at::empty({3, 4})));
  EXPECT_TRUE(takes_mm(at::empty({4, 2}).t(), at::empty({2, 3}), at::empty({3, 4})));
  EXPECT_TRUE(takes_mm(result.to(at::kDouble), at::empty({2, 3}, at::kDouble),
                       at::empty({3, 4}, at::kDouble)));
}

TEST_F(Gemm, LeavesWhatAtenCopiesFirst) {
  const at::Tensor gaps = at::empty({2, 6}).slice(1, 0, 6, 2);
  EXPECT_FALSE(takes_mm(at::empty({2, 4}), gaps, at::empty({3, 4})));
  EXPECT_FALSE(takes_mm(at::empty({2, 4}), at::empty({3}).expand({2, 3}), at::empty({3, 4})));
}

TEST_F(Gemm, LeavesProductsOfNothing) {
  EXPECT_FALSE(takes_mm(at::empty({2, 4}), at::empty({2, 0}), at::empty({0, 4})));
  EXPECT_FALSE(takes_mm(at::empty({0, 4}), at::empty({0, 3}), at::empty({3, 4})));
}

TEST_F(Gemm, LeavesOtherDtypes) {
  for (const at::ScalarType dtype : {at::kHalf, at::kBFloat16, at::kLong, at::kComplexFloat}) {
    EXPECT_FALSE(
        takes_mm(at::empty({2, 4}, dtype), at::empty({2, 3}, dtype), at::empty({3, 4}, dtype)));
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
