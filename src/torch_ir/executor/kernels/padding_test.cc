#include <gtest/gtest.h>

#include "torch_ir/executor/kernels/testing/kernel_cases.h"

namespace torch_ir {
namespace {

TEST(PaddingKernels, GiveTheBitsOfTheDispatcher) {
  CaseRunner runner(padding_kernels());
  for (const at::ScalarType dtype : kAllDtypes) {
    for (const Layout layout : kLayouts) {
      const at::Tensor rows = make_tensor(dtype, {2, 3, 8}, layout);
      const at::Tensor image = make_tensor(dtype, {2, 3, 7, 8}, layout);
      const at::Tensor volume = make_tensor(dtype, {2, 3, 5, 7, 8}, layout);
      for (const int64_t pad : {0, 1, 3}) {
        const std::vector<int64_t> one = {pad, 2};
        const std::vector<int64_t> two = {pad, 2, 1, pad};
        const std::vector<int64_t> three = {pad, 2, 1, pad, 2, pad};
        runner.run("aten::reflection_pad1d", {rows, one});
        runner.run("aten::reflection_pad2d", {image, two});
        runner.run("aten::reflection_pad3d", {volume, three});
        runner.run("aten::replication_pad1d", {rows, one});
        runner.run("aten::replication_pad2d", {image, two});
        runner.run("aten::replication_pad3d", {volume, three});
      }
    }
  }
  runner.expect_all_taken();
}

}  // namespace
}  // namespace torch_ir
