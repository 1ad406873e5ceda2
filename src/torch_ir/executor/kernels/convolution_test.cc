#include <gtest/gtest.h>

#include "torch_ir/executor/kernels/testing/kernel_cases.h"

namespace torch_ir {
namespace {

TEST(ConvolutionKernels, GiveTheBitsOfTheDispatcher) {
  CaseRunner runner(convolution_kernels());
  const c10::IValue none;
  const std::vector<int64_t> zeros = {0, 0};
  const std::vector<int64_t> ones = {1, 1};
  const std::vector<int64_t> twos = {2, 2};
  for (const at::ScalarType dtype : kFloats) {
    for (const Layout layout : {Layout::kContiguous, Layout::kChannelsLast, Layout::kSliced}) {
      const at::Tensor image = make_tensor(dtype, {2, 3, 11, 12}, layout, Values::kFinite);
      const at::Tensor weight = make_tensor(dtype, {5, 3, 3, 3}, layout, Values::kFinite);
      const at::Tensor point = make_tensor(dtype, {5, 3, 1, 1}, Layout::kContiguous);
      const at::Tensor bias = make_tensor(dtype, {5}, Layout::kContiguous, Values::kFinite);
      const std::vector<int64_t> threes = {3, 3};
      for (const c10::IValue& added : {c10::IValue(bias), none}) {
        runner.run("aten::_slow_conv2d_forward", {image, weight, threes, added, ones, ones});
        runner.run("aten::_slow_conv2d_forward", {image, weight, threes, added, twos, zeros});
        runner.run("aten::_slow_conv2d_forward", {image, point, ones, added, ones, zeros});
        const at::Tensor back = make_tensor(dtype, {3, 5, 3, 3}, Layout::kContiguous);
        runner.run("aten::slow_conv_transpose2d",
                   {image, back, threes, added, twos, ones, ones, ones});
      }
    }
    const at::Tensor volume = make_tensor(dtype, {2, 3, 5, 6, 7}, Layout::kContiguous);
    const at::Tensor weight = make_tensor(dtype, {4, 3, 2, 2, 2}, Layout::kContiguous);
    runner.run("aten::slow_conv3d_forward",
               {volume, weight, std::vector<int64_t>{2, 2, 2}, make_tensor(dtype, {4}),
                std::vector<int64_t>{1, 2, 1}, std::vector<int64_t>{0, 1, 1}});
  }
  runner.expect_all_taken();
}

}  // namespace
}  // namespace torch_ir
