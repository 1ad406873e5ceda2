#include <gtest/gtest.h>

#include "torch_ir/executor/kernels/testing/kernel_cases.h"

namespace torch_ir {
namespace {

TEST(UnaryKernels, GiveTheBitsOfTheDispatcher) {
  CaseRunner runner(unary_kernels());
  for (const KernelEntry& entry : unary_kernels()) {
    const std::string op(entry.operator_name);
    if (op == "aten::polygamma") {
      runner.run(op, {1, make_tensor(at::kFloat, {3, 5})});
      runner.run(op, {2, make_tensor(at::kDouble, {4, 3}, Layout::kTransposed)});
    } else if (op == "aten::round.decimals") {
      run_with_one_tensor(runner, op, {2});
    } else if (op == "aten::logit") {
      run_with_one_tensor(runner, op, {0.25});
    } else {
      run_with_one_tensor(runner, op);
    }
  }
  runner.expect_all_taken();
}

TEST(UnaryKernels, WriteInPlace) {
  CaseRunner runner(unary_kernels());
  for (const char* op : {"aten::tanh_", "aten::neg_", "aten::abs_", "aten::sigmoid_"}) {
    runner.run_taken(op, {make_tensor(at::kFloat, {3, 5})});
    runner.run_taken(op, {make_tensor(at::kFloat, {3, 5}, Layout::kSliced)});
    runner.run_taken(op, {make_tensor(at::kBFloat16, {3, 5}, Layout::kTransposed)});
  }
}

TEST(UnaryKernels, WriteToGivenResults) {
  CaseRunner runner(unary_kernels());
  runner.run_taken("aten::tanh.out",
                   {make_tensor(at::kFloat, {3, 5}), make_tensor(at::kFloat, {3, 5})});
  runner.run_taken("aten::abs.out", {make_tensor(at::kFloat, {3, 5}, Layout::kSliced),
                                     make_tensor(at::kFloat, {3, 5})});
}

}  // namespace
}  // namespace torch_ir
