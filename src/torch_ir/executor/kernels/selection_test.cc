#include <gtest/gtest.h>

#include "torch_ir/executor/kernels/testing/kernel_cases.h"

namespace torch_ir {
namespace {

TEST(SelectionKernels, GiveTheBitsOfTheDispatcher) {
  CaseRunner runner(selection_kernels());
  for (const at::ScalarType dtype : kAllDtypes) {
    for (const Layout layout : kLayouts) {
      const at::Tensor mask = make_tensor(at::kBool, {2, 3, 4, 5}, layout);
      const at::Tensor chosen = make_tensor(dtype, {2, 3, 4, 5}, layout);
      const at::Tensor other = make_tensor(dtype, {4, 1});
      runner.run("aten::where.self", {mask, chosen, other});
      runner.run("aten::where.self", {mask, chosen, make_wrapped_number(2.5)});
      runner.run("aten::where.self", {mask, make_tensor(at::kInt, {}), chosen});
      runner.run("aten::where.self", {make_tensor(at::kByte, {4, 1}), chosen, chosen});
      if (layout == Layout::kExpanded) continue;
      for (const at::Tensor& some : {mask, make_tensor(at::kBool, {4, 1})}) {
        runner.run("aten::masked_fill_.Scalar", {chosen, some, 2});
        runner.run("aten::masked_fill_.Scalar", {chosen, some, -0.5});
        runner.run("aten::masked_fill_.Tensor", {chosen, some, make_tensor(dtype, {})});
      }
    }
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{}, {0, 3}, {1}}) {
      const at::Tensor tensor = make_tensor(dtype, sizes);
      runner.run("aten::where.self", {make_tensor(at::kBool, sizes), tensor, tensor});
      runner.run("aten::masked_fill_.Scalar", {tensor, make_tensor(at::kBool, sizes), 1});
    }
  }
  const at::Tensor many = make_tensor(at::kFloat, {3, 20001});
  runner.run_taken("aten::where.self", {make_tensor(at::kBool, {20001}), many, many});
  runner.expect_all_taken();
}

}  // namespace
}  // namespace torch_ir
