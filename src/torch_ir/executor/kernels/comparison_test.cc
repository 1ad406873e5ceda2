#include <gtest/gtest.h>

#include "torch_ir/executor/kernels/testing/kernel_cases.h"

namespace torch_ir {
namespace {

TEST(ComparisonKernels, GiveTheBitsOfTheDispatcher) {
  CaseRunner runner(comparison_kernels());
  for (const char* name : {"eq", "ge", "gt", "le", "lt", "ne"}) {
    const std::string op = std::string("aten::") + name;
    run_with_two_tensors(runner, op + ".Tensor");
    run_with_one_tensor(runner, op + ".Scalar", {2});
    run_with_one_tensor(runner, op + ".Scalar", {0.5});
  }
  for (const char* op : {"aten::logical_and", "aten::logical_or", "aten::logical_xor"}) {
    run_with_two_tensors(runner, op);
  }
  for (const at::ScalarType dtype : {at::kFloat, at::kLong, at::kByte}) {
    const at::Tensor elements = make_tensor(dtype, {3, 5}, Layout::kTransposed);
    const at::Tensor few = make_tensor(dtype, {4});
    const at::Tensor many = make_tensor(dtype, {100});
    runner.run("aten::isin.Tensor_Tensor", {elements, few});
    runner.run("aten::isin.Tensor_Tensor", {elements, many, false, true});
    runner.run("aten::isin.Tensor_Scalar", {elements, 3});
  }
  runner.expect_all_taken();
}

}  // namespace
}  // namespace torch_ir
