#include <gtest/gtest.h>

#include "torch_ir/runtime/kernels/testing/kernel_cases.h"

namespace torch_ir {
namespace {

TEST(CopyingKernels, GiveTheBitsOfTheDispatcher) {
  CaseRunner runner(copying_kernels());
  const c10::IValue none;
  const auto copy_to = [&](const at::Tensor& tensor, at::ScalarType dtype) {
    runner.run("aten::_to_copy", {tensor, dtype, none, none, none, false, none});
  };
  for (const at::ScalarType dtype : kAllDtypes) {
    for (const Layout layout : kLayouts) {
      const at::Tensor tensor = make_tensor(dtype, {2, 3, 4, 5}, layout);
      runner.run("aten::clone", {tensor});
      runner.run("aten::clone", {tensor, at::MemoryFormat::Contiguous});
      runner.run("aten::clone", {tensor, at::MemoryFormat::ChannelsLast});
      for (const at::ScalarType other : kAllDtypes) {
        copy_to(tensor, other);
        runner.run("aten::copy_", {make_tensor(other, {2, 3, 4, 5}), tensor});
        runner.run("aten::copy_", {make_tensor(other, {2, 3, 4, 5}), make_tensor(dtype, {4, 1})});
      }
    }
    for (const Layout layout : {Layout::kTransposed, Layout::kSliced}) {
      runner.run("aten::copy_", {make_tensor(dtype, {3, 5}, layout), make_tensor(dtype, {3, 5})});
    }
    runner.run("aten::clone", {make_tensor(dtype, {})});
    runner.run("aten::clone", {make_tensor(dtype, {0, 4})});
    runner.run("aten::clone", {make_tensor(dtype, {90, 70}, Layout::kTransposed)});
    copy_to(make_tensor(dtype, {90, 70}, Layout::kTransposed), dtype);
  }
  for (const at::ScalarType dtype : {at::kFloat, at::kHalf}) {
    const at::Tensor many = make_tensor(dtype, {3, 20001});
    runner.run_taken("aten::clone", {many});
    copy_to(many, at::kHalf);
    copy_to(many, at::kFloat);
  }
  for (const at::ScalarType dtype : kAllDtypes) {
    for (const Layout layout : kLayouts) {
      const at::Tensor first = make_tensor(dtype, {2, 3, 4, 5}, layout);
      for (const int64_t dim : {0, 1, 2, -1}) {
        std::vector<int64_t> sizes = {2, 3, 4, 5};
        sizes[static_cast<size_t>(dim < 0 ? dim + 4 : dim)] = 7;
        const at::Tensor second = make_tensor(dtype, sizes, layout);
        const at::Tensor nothing = make_tensor(dtype, {0});
        runner.run("aten::cat", {std::vector<at::Tensor>{first, second}, dim});
        runner.run("aten::cat", {std::vector<at::Tensor>{first}, dim});
        runner.run("aten::cat", {std::vector<at::Tensor>{nothing, first, first, second}, dim});
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
