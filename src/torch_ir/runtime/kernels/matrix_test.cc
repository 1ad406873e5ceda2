#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include "torch_ir/runtime/kernels/testing/kernel_cases.h"

namespace torch_ir {
namespace {

const std::vector<int64_t> kShapes[] = {{1, 32, 32}, {5, 7, 3}, {64, 48, 80}, {1, 1, 1},
                                        {3, 1, 4},   {1, 5, 9}, {9, 5, 1},    {0, 3, 4},
                                        {3, 0, 4},   {3, 4, 0}, {7, 300, 11}, {300, 64, 130}};

// Matrices of rows, of columns, with gaps between the rows, and with gaps between all elements.
std::vector<at::Tensor> matrices(at::ScalarType dtype, int64_t rows, int64_t columns,
                                 Values values) {
  std::vector<at::Tensor> made;
  for (const Layout layout : {Layout::kContiguous, Layout::kTransposed, Layout::kSliced}) {
    made.push_back(make_tensor(dtype, {rows, columns}, layout, values));
  }
  made.push_back(
      make_tensor(dtype, {rows, columns + 5}, Layout::kContiguous, values).narrow(1, 2, columns));
  return made;
}

TEST(MatrixKernels, GiveTheBitsOfTheDispatcher) {
  CaseRunner runner(matrix_kernels());
  for (const at::ScalarType dtype :
       {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf, at::kLong, at::kComplexFloat}) {
    for (const auto& shape : kShapes) {
      const int64_t m = shape[0];
      const int64_t k = shape[1];
      const int64_t n = shape[2];
      for (const at::Tensor& first : matrices(dtype, m, k, Values::kFinite)) {
        for (const at::Tensor& second : matrices(dtype, k, n, Values::kFinite)) {
          runner.run("aten::mm", {first, second});
          runner.run("aten::addmm", {make_tensor(dtype, {n}), first, second});
        }
      }
      const at::Tensor first = make_tensor(dtype, {m, k});
      const at::Tensor second = make_tensor(dtype, {n, k}).t();
      for (const std::vector<int64_t>& sizes :
           {std::vector<int64_t>{}, {1}, {n}, {1, n}, {m, 1}, {m, n}}) {
        runner.run("aten::addmm", {make_tensor(dtype, sizes), first, second});
        runner.run("aten::addmm", {make_tensor(dtype, sizes), first, second, 0, 1});
        runner.run("aten::addmm", {make_tensor(dtype, sizes), first, second, 2, 3});
      }
      runner.run("aten::addmm", {make_tensor(dtype, {m, n}, Layout::kTransposed), first, second});
      runner.run("aten::addmm_", {make_tensor(dtype, {m, n}), first, second});
      runner.run("aten::addmm_", {make_tensor(dtype, {m, n}, Layout::kTransposed), first, second});
    }
  }
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kBFloat16, at::kLong}) {
    for (const auto& shape : kShapes) {
      for (const int64_t batch : {1, 3}) {
        for (const Layout layout : kLayouts) {
          const at::Tensor first =
              make_tensor(dtype, {batch, shape[0], shape[1]}, layout, Values::kFinite);
          const at::Tensor second =
              make_tensor(dtype, {batch, shape[1], shape[2]}, layout, Values::kFinite);
          runner.run("aten::bmm", {first, second});
        }
      }
    }
  }
  runner.expect_all_taken();
}

// Which products go to BLAS directly.
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
