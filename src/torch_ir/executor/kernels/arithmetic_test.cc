#include <gtest/gtest.h>

#include "torch_ir/executor/kernels/testing/kernel_cases.h"

namespace torch_ir {
namespace {

TEST(ArithmeticKernels, GiveTheBitsOfTheDispatcherForTwoTensors) {
  CaseRunner runner(arithmetic_kernels());
  for (const char* op : {"aten::add.Tensor",
                         "aten::sub.Tensor",
                         "aten::mul.Tensor",
                         "aten::atan2",
                         "aten::bitwise_and.Tensor",
                         "aten::bitwise_or.Tensor",
                         "aten::bitwise_xor.Tensor",
                         "aten::copysign.Tensor",
                         "aten::fmax",
                         "aten::fmin",
                         "aten::heaviside",
                         "aten::hypot",
                         "aten::logaddexp",
                         "aten::logaddexp2",
                         "aten::maximum",
                         "aten::minimum",
                         "aten::nextafter",
                         "aten::special_xlog1py",
                         "aten::xlogy.Tensor",
                         "aten::clamp_min.Tensor",
                         "aten::clamp_max.Tensor"}) {
    run_with_two_tensors(runner, op);
  }
  // Whole numbers are not divided by zero, and not shifted or raised by negative ones.
  for (const char* op : {"aten::div.Tensor", "aten::fmod.Tensor", "aten::remainder.Tensor",
                         "aten::floor_divide", "aten::pow.Tensor_Tensor", "aten::gcd", "aten::lcm",
                         "aten::bitwise_left_shift.Tensor", "aten::bitwise_right_shift.Tensor",
                         "aten::igamma", "aten::igammac", "aten::special_zeta"}) {
    run_with_two_tensors(runner, op, {}, Values::kPositive);
  }
  run_with_two_tensors(runner, "aten::add.Tensor", {2.5});
  run_with_two_tensors(runner, "aten::sub.Tensor", {3});
  run_with_two_tensors(runner, "aten::div.Tensor_mode", {"floor"}, Values::kPositive);
  run_with_two_tensors(runner, "aten::div.Tensor_mode", {"trunc"}, Values::kPositive);
  run_with_two_tensors(runner, "aten::div.Tensor_mode", {c10::IValue()}, Values::kPositive);
  run_with_two_tensors(runner, "aten::lerp.Scalar", {0.25});
  run_with_one_tensor(runner, "aten::clamp", {-1, 2});
  run_with_one_tensor(runner, "aten::clamp", {c10::IValue(), 0.5});
  run_with_one_tensor(runner, "aten::clamp_min", {0});
  run_with_one_tensor(runner, "aten::clamp_max", {0.5});
  for (const at::Scalar& exponent :
       {at::Scalar(2), at::Scalar(0.5), at::Scalar(-1), at::Scalar(3)}) {
    run_with_one_tensor(runner, "aten::pow.Tensor_Scalar", {exponent});
  }
  for (const at::ScalarType dtype : kAllDtypes) {
    for (const Layout layout : kLayouts) {
      const at::Tensor self = make_tensor(dtype, {3, 4, 5}, layout);
      const at::Tensor other = make_tensor(dtype, {4, 1}, Layout::kContiguous, Values::kPositive);
      const at::Tensor third = make_tensor(dtype, {3, 1, 5}, layout, Values::kPositive);
      runner.run("aten::addcmul", {self, other, third, 2});
      runner.run("aten::addcdiv", {self, other, third, 2});
      runner.run("aten::clamp.Tensor", {self, other, third});
      runner.run("aten::clamp.Tensor", {self, c10::IValue(), third});
      runner.run("aten::lerp.Tensor", {self, other, third});
      runner.run("aten::pow.Scalar", {2, self});
    }
  }
  runner.expect_all_taken();
}

TEST(ArithmeticKernels, WriteInPlace) {
  CaseRunner runner(arithmetic_kernels());
  for (const char* op : {"aten::add_.Tensor", "aten::mul_.Tensor"}) {
    for (const Layout layout : {Layout::kContiguous, Layout::kTransposed, Layout::kSliced}) {
      runner.run_taken(op, {make_tensor(at::kFloat, {3, 5}, layout), make_tensor(at::kFloat, {5})});
      runner.run_taken(op, {make_tensor(at::kFloat, {3, 5}, layout), make_tensor(at::kInt, {5})});
    }
    // It is computed in float, and written to half from there.
    runner.run_refused(op, {make_tensor(at::kHalf, {3, 5}), make_tensor(at::kFloat, {5})});
  }
  runner.run_taken("aten::clamp_min_", {make_tensor(at::kFloat, {3, 5}), 0});
}

}  // namespace
}  // namespace torch_ir
