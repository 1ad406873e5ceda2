#include <gtest/gtest.h>

#include "torch_ir/executor/kernels/testing/kernel_cases.h"

namespace torch_ir {
namespace {

TEST(ActivationKernels, GiveTheBitsOfTheDispatcher) {
  CaseRunner runner(activation_kernels());
  for (const char* op :
       {"aten::elu", "aten::gelu", "aten::hardshrink", "aten::hardsigmoid", "aten::hardswish",
        "aten::hardtanh", "aten::leaky_relu", "aten::log_sigmoid_forward", "aten::mish",
        "aten::silu", "aten::softplus", "aten::softshrink"}) {
    run_with_one_tensor(runner, op);
  }
  run_with_one_tensor(runner, "aten::elu", {1.5, 0.5, 2.0});
  run_with_one_tensor(runner, "aten::gelu", {"tanh"});
  run_with_one_tensor(runner, "aten::hardtanh", {0, 6});
  run_with_one_tensor(runner, "aten::leaky_relu", {0.2});
  run_with_one_tensor(runner, "aten::threshold", {0.5, 20});
  run_with_one_tensor(runner, "aten::glu", {1});
  runner.run("aten::glu", {make_tensor(at::kFloat, {3, 8}), -1});
  runner.run("aten::glu", {make_tensor(at::kFloat, {4, 6}, Layout::kTransposed), 0});
  for (const int64_t reduction : {0, 1, 2}) {
    run_with_two_tensors(runner, "aten::mse_loss", {reduction});
    run_with_two_tensors(runner, "aten::smooth_l1_loss", {reduction, 0.5});
  }
  runner.expect_all_taken();
}

}  // namespace
}  // namespace torch_ir
