#include <gtest/gtest.h>

#include "torch_ir/executor/kernels/testing/kernel_cases.h"

namespace torch_ir {
namespace {

TEST(UpsamplingKernels, GiveTheBitsOfTheDispatcher) {
  CaseRunner runner(upsampling_kernels());
  const c10::IValue none;
  for (const at::ScalarType dtype :
       {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf, at::kByte}) {
    for (const Layout layout : kLayouts) {
      const at::Tensor rows = make_tensor(dtype, {2, 3, 8}, layout);
      const at::Tensor image = make_tensor(dtype, {2, 3, 7, 8}, layout);
      const at::Tensor volume = make_tensor(dtype, {2, 3, 4, 5, 6}, layout);
      for (const int64_t size : {3, 8, 17}) {
        const std::vector<int64_t> one = {size};
        const std::vector<int64_t> two = {size, size + 2};
        const std::vector<int64_t> three = {size, size + 2, 5};
        for (const char* op : {"aten::upsample_nearest1d", "aten::_upsample_nearest_exact1d"}) {
          runner.run(op, {rows, one});
        }
        for (const char* op : {"aten::upsample_nearest2d", "aten::_upsample_nearest_exact2d"}) {
          runner.run(op, {image, two});
          runner.run(op, {image, two, 2.5, 1.25});
        }
        for (const char* op : {"aten::upsample_nearest3d", "aten::_upsample_nearest_exact3d"}) {
          runner.run(op, {volume, three});
        }
        for (const bool aligned : {true, false}) {
          runner.run("aten::upsample_linear1d", {rows, one, aligned});
          runner.run("aten::upsample_trilinear3d", {volume, three, aligned});
          for (const char* op : {"aten::upsample_bilinear2d", "aten::_upsample_bilinear2d_aa",
                                 "aten::upsample_bicubic2d", "aten::_upsample_bicubic2d_aa"}) {
            runner.run(op, {image, two, aligned});
          }
        }
      }
    }
  }
  runner.expect_all_taken();
}

}  // namespace
}  // namespace torch_ir
