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

}  // namespace
}  // namespace torch_ir
