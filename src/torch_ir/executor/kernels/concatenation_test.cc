#include <gtest/gtest.h>

#include "torch_ir/executor/kernels/testing/kernel_cases.h"

namespace torch_ir {
namespace {

TEST(ConcatenationKernels, GiveTheBitsOfTheDispatcher) {
  CaseRunner runner(concatenation_kernels());
  for (const at::ScalarType dtype : kAllDtypes) {
    for (const Layout layout : kLayouts) {
      const at::Tensor first = make_tensor(dtype, {2, 3, 4, 5}, layout);
      for (const int64_t dim : {0, 1, 2, -1}) {
        std::vector<int64_t> sizes = {2, 3, 4, 5};
        sizes[static_cast<size_t>(dim < 0 ? dim + 4 : dim)] = 7;
        const at::Tensor second = make_tensor(dtype, sizes, layout);
        const at::Tensor none = make_tensor(dtype, {0});
        runner.run("aten::cat", {std::vector<at::Tensor>{first, second}, dim});
        runner.run("aten::cat", {std::vector<at::Tensor>{first}, dim});
        runner.run("aten::cat", {std::vector<at::Tensor>{none, first, first, second}, dim});
        runner.run("aten::cat",
                   {std::vector<at::Tensor>{first, make_tensor(at::kInt, sizes)}, dim});
      }
    }
    const at::Tensor empty = make_tensor(dtype, {0, 3});
    runner.run("aten::cat", {std::vector<at::Tensor>{empty, empty}, 0});
  }
  const at::Tensor many = make_tensor(at::kFloat, {3, 20001});
  runner.run_taken("aten::cat", {std::vector<at::Tensor>{many, many}, 1});
  runner.expect_all_taken();
}

}  // namespace
}  // namespace torch_ir
