#include <gtest/gtest.h>

#include "torch_ir/runtime/kernels/testing/kernel_cases.h"

namespace torch_ir {
namespace {

TEST(NormalizationKernels, GiveTheBitsOfTheDispatcher) {
  CaseRunner runner(normalization_kernels());
  const c10::IValue none;
  for (const at::ScalarType dtype : kFloats) {
    for (const Layout layout : kLayouts) {
      const at::Tensor image = make_tensor(dtype, {2, 6, 4, 5}, layout);
      for (const int64_t dim : {0, 1, -1}) {
        runner.run("aten::_softmax", {image, dim, false});
        runner.run("aten::_log_softmax", {image, dim, false});
      }
      for (const at::ScalarType parameters : {dtype, at::kFloat}) {
        const at::Tensor channel = make_tensor(parameters, {6});
        const at::Tensor variance =
            make_tensor(parameters, {6}, Layout::kContiguous, Values::kPositive);
        for (const char* op : {"aten::native_batch_norm", "aten::_native_batch_norm_legit"}) {
          runner.run(op, {image, channel, channel, channel, variance, false, 0.1, 1e-5});
          runner.run(op, {image, none, none, channel, variance, false, 0.1, 1e-5});
          runner.run(op, {image, channel, none, channel, variance, false, 0.1, 1e-3});
          const at::Tensor gaps = make_tensor(parameters, {6}, Layout::kSliced);
          runner.run(op, {image, gaps, channel, channel, variance, false, 0.1, 1e-5});
        }
        const std::vector<int64_t> last = {5};
        const std::vector<int64_t> last_two = {4, 5};
        const at::Tensor row = make_tensor(parameters, last);
        const at::Tensor plane = make_tensor(parameters, last_two);
        runner.run("aten::native_layer_norm", {image, last, row, row, 1e-5});
        runner.run("aten::native_layer_norm", {image, last_two, plane, none, 1e-5});
        runner.run("aten::native_layer_norm", {image, last, none, none, 1e-5});
        runner.run("aten::native_layer_norm", {image, last, row, row, 1e-5}, {true, false, false});
        for (const int64_t groups : {1, 2, 6}) {
          runner.run("aten::native_group_norm", {image, channel, channel, 2, 6, 20, groups, 1e-5});
          runner.run("aten::native_group_norm", {image, none, none, 2, 6, 20, groups, 1e-5});
        }
      }
    }
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{}, {7}, {0, 3}, {3, 0}, {1}, {130, 257}}) {
      runner.run("aten::_softmax", {make_tensor(dtype, sizes), -1, false});
      runner.run("aten::_log_softmax", {make_tensor(dtype, sizes), 0, false});
    }
    const at::Tensor rows = make_tensor(dtype, {0, 3});
    runner.run("aten::native_layer_norm",
               {rows, std::vector<int64_t>{3}, make_tensor(dtype, {3}), none, 1e-5});
    const at::Tensor many = make_tensor(dtype, {64, 700});
    runner.run("aten::native_layer_norm",
               {many, std::vector<int64_t>{700}, make_tensor(dtype, {700}), none, 1e-5});
    // Two dimensions, and three.
    const at::Tensor channel = make_tensor(dtype, {3}, Layout::kContiguous, Values::kPositive);
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{4, 3}, {4, 3, 5}, {0, 3, 2}, {2, 3, 2, 3, 4}}) {
      runner.run("aten::native_batch_norm",
                 {make_tensor(dtype, sizes), channel, channel, channel, channel, false, 0.1, 1e-5});
    }
  }
  runner.expect_all_taken();
}

TEST(NormalizationKernels, LeaveTrainingToTheDispatcher) {
  CaseRunner runner(normalization_kernels());
  const at::Tensor image = make_tensor(at::kFloat, {2, 3, 4, 5});
  const at::Tensor channel = make_tensor(at::kFloat, {3}, Layout::kContiguous, Values::kPositive);
  runner.run_refused("aten::native_batch_norm",
                     {image, channel, channel, channel, channel, true, 0.1, 1e-5});
}

}  // namespace
}  // namespace torch_ir
