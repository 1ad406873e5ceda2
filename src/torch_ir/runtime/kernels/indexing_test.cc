#include <gtest/gtest.h>

#include "torch_ir/runtime/kernels/testing/kernel_cases.h"

namespace torch_ir {
namespace {

c10::List<std::optional<at::Tensor>> indices_of(
    const std::vector<std::optional<at::Tensor>>& indices) {
  return c10::List<std::optional<at::Tensor>>(
      c10::ArrayRef<std::optional<at::Tensor>>(indices.data(), indices.size()));
}

TEST(IndexingKernels, GiveTheBitsOfTheDispatcher) {
  CaseRunner runner(indexing_kernels());
  for (const at::ScalarType dtype : kAllDtypes) {
    for (const Layout layout : kLayouts) {
      const at::Tensor self = make_tensor(dtype, {6, 4, 5}, layout);
      const at::Tensor row = make_indices({7}, 4);
      const at::Tensor plane = make_indices({3, 2}, 4);
      const at::Tensor column = make_indices({3, 1}, 4);
      runner.run("aten::index.Tensor", {self, indices_of({row})});
      runner.run("aten::index.Tensor", {self, indices_of({std::nullopt, row})});
      runner.run("aten::index.Tensor", {self, indices_of({plane, std::nullopt, column})});
      runner.run("aten::index.Tensor", {self, indices_of({plane, column, plane})});
      for (const at::ScalarType whole : {at::kLong, at::kInt}) {
        for (const int64_t dim : {0, 1, -1}) {
          runner.run("aten::index_select", {self, dim, make_indices({7}, 4, whole)});
          runner.run("aten::index_select", {self, dim, make_indices({0}, 4, whole)});
          runner.run("aten::index_select", {self, dim, make_indices({}, 4, whole)});
        }
      }
      runner.run("aten::index_select",
                 {make_tensor(dtype, {50, 33}, layout), 0, make_indices({200}, 50)});
      for (const int64_t dim : {0, 1, 2}) {
        const at::Tensor positions = make_indices({3, 4, 5}, 3);
        const at::Tensor source = make_tensor(dtype, {3, 4, 5}, layout);
        runner.run("aten::gather", {self, dim, positions});
        runner.run("aten::scatter.value", {self, dim, positions, 2});
        for (const char* reduction : {"sum", "prod", "mean", "amax", "amin"}) {
          runner.run("aten::scatter_reduce.two", {self, dim, positions, source, reduction, true});
          runner.run("aten::scatter_reduce.two", {self, dim, positions, source, reduction, false});
        }
        if (layout == Layout::kExpanded) continue;
        runner.run("aten::scatter_.value", {self, dim, positions, 2});
      }
    }
    runner.run("aten::index_select", {make_tensor(dtype, {}), 0, make_indices({1}, 1)});
  }
  runner.expect_all_taken();
}

TEST(IndexingKernels, LeaveMasksToTheDispatcher) {
  CaseRunner runner(indexing_kernels());
  const at::Tensor self = make_tensor(at::kFloat, {6, 4});
  for (const at::ScalarType dtype : {at::kBool, at::kByte, at::kInt}) {
    const at::Tensor index =
        dtype == at::kInt ? make_indices({6}, 4, dtype) : make_tensor(dtype, {6});
    runner.run_refused("aten::index.Tensor", {self, indices_of({index})});
  }
}

TEST(IndexingKernels, SayWhichIndexIsOutOfRange) {
  const at::Tensor self = make_tensor(at::kFloat, {6, 4});
  const at::Tensor index = make_indices({3}, 6);
  KernelCall call{c10::Dispatcher::singleton().findSchemaOrThrow("aten::index_select", ""),
                  {self, 0, index},
                  {false, false, false},
                  {make_tensor(at::kFloat, {3, 4})},
                  {true}};
  const auto kernel = find_kernel("aten::index_select")(call);
  ASSERT_NE(kernel, nullptr);
  const auto error_of = [](const auto& action) -> std::string {
    try {
      action();
    } catch (const c10::Error& error) {
      return error.what_without_backtrace();
    }
    return "";
  };
  for (const int64_t bad : {6, -1}) {
    index.mutable_data_ptr<int64_t>()[1] = bad;
    std::vector<c10::IValue> stack = {self, 0, index};
    const std::string expected = error_of([&] { call.op.callBoxed(stack); });
    EXPECT_NE(expected, "");
    EXPECT_EQ(error_of([&] { kernel->run(); }), expected);
  }
}

}  // namespace
}  // namespace torch_ir
