#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include "torch_ir/runtime/kernels/testing/kernel_cases.h"

namespace torch_ir {
namespace {

struct Window {
  std::vector<int64_t> kernel;
  std::vector<int64_t> stride;
  std::vector<int64_t> padding;
  std::vector<int64_t> dilation;
  bool ceil_mode = false;

  std::vector<c10::IValue> max_pool(const at::Tensor& image) const {
    return {image, kernel, stride, padding, dilation, ceil_mode};
  }
};

const Window kWindows[] = {
    {{2, 2}, {}, {0, 0}, {1, 1}},     {{2}, {2}, {0}, {1}},
    {{3, 3}, {2, 2}, {1, 1}, {1, 1}}, {{3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {{2, 2}, {2, 2}, {1, 1}, {1, 1}}, {{3, 3}, {2, 2}, {1, 1}, {1, 1}, true},
    {{2, 3}, {2, 2}, {0, 1}, {1, 1}}, {{3, 2}, {3, 2}, {1, 0}, {1, 1}, true},
    {{3, 3}, {2, 2}, {1, 1}, {2, 2}}, {{3, 3}, {1, 1}, {1, 1}, {3, 2}},
    {{5, 4}, {3, 3}, {2, 2}, {1, 1}}, {{1, 1}, {1, 1}, {0, 0}, {1, 1}},
    {{5, 5}, {1, 1}, {2, 2}, {1, 1}}, {{7, 7}, {4, 4}, {3, 3}, {1, 1}, true},
};

// Memory formats that a kernel supports, and one that it does not.
std::vector<at::Tensor> images(at::ScalarType dtype, const std::vector<int64_t>& sizes) {
  std::vector<at::Tensor> made;
  for (const Layout layout : {Layout::kContiguous, Layout::kChannelsLast, Layout::kSliced}) {
    made.push_back(make_tensor(dtype, sizes, layout));
  }
  return made;
}

TEST(PoolingKernels, GiveTheBitsOfTheDispatcher) {
  CaseRunner runner(pooling_kernels());
  for (const at::ScalarType dtype :
       {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf, at::kLong}) {
    for (const Window& window : kWindows) {
      for (const std::vector<int64_t>& sizes :
           {std::vector<int64_t>{2, 3, 16, 17}, {1, 1, 9, 40}, {3, 12, 11}, {2, 4, 7, 131}}) {
        for (const at::Tensor& image : images(dtype, sizes)) {
          runner.run("aten::max_pool2d_with_indices", window.max_pool(image));
          runner.run("aten::max_pool2d_with_indices", window.max_pool(image), {true, false});
          for (const bool counts_padding : {true, false}) {
            runner.run("aten::avg_pool2d", {image, window.kernel, window.stride, window.padding,
                                            window.ceil_mode, counts_padding});
          }
          runner.run("aten::avg_pool2d", {image, window.kernel, window.stride, window.padding,
                                          window.ceil_mode, true, 3});
        }
      }
    }
    for (const at::Tensor& image : images(dtype, {2, 3, 16, 17})) {
      for (const std::vector<int64_t>& size : {std::vector<int64_t>{1, 1}, {7, 5}, {16, 17}}) {
        runner.run("aten::_adaptive_avg_pool2d", {image, size});
      }
    }
  }
  runner.expect_all_taken();
}

// Whether our own kernel, which is faster than ATen's, takes the call.
bool takes_max_pool(const at::Tensor& image, const at::Tensor& pooled) {
  using Sizes = std::vector<int64_t>;
  const KernelCall call{
      c10::Dispatcher::singleton().findSchemaOrThrow("aten::max_pool2d_with_indices", ""),
      {image, Sizes{2, 2}, Sizes{}, Sizes{0, 0}, Sizes{1, 1}, false},
      std::vector<bool>(6, false),
      {pooled, at::empty(pooled.sizes(), at::kLong)},
      {true, false}};
  return prepare_max_pool2d_values(call) != nullptr;
}

TEST(PoolingKernels, MaxPool2dTakesContiguousFloatImages) {
  EXPECT_TRUE(takes_max_pool(at::empty({2, 3, 8, 8}), at::empty({2, 3, 4, 4})));
  EXPECT_TRUE(takes_max_pool(at::empty({3, 8, 8}), at::empty({3, 4, 4})));
  EXPECT_FALSE(
      takes_max_pool(at::empty({2, 3, 8, 8}, at::kDouble), at::empty({2, 3, 4, 4}, at::kDouble)));
  const auto channels_last = at::MemoryFormat::ChannelsLast;
  EXPECT_FALSE(takes_max_pool(at::empty({2, 3, 8, 8}).contiguous(channels_last),
                              at::empty({2, 3, 4, 4}).contiguous(channels_last)));
  EXPECT_FALSE(takes_max_pool(at::empty({0, 3, 8, 8}), at::empty({0, 3, 4, 4})));
}

TEST(PoolingKernels, MaxPool2dTakesTheFirstZeroAndTheLastNan) {
  CaseRunner runner(pooling_kernels());
  // Windows of zeros of both signs, and of NaNs with different payloads.
  at::Tensor image = make_tensor(at::kFloat, {1, 2, 24, 70});
  auto* bits = static_cast<uint32_t*>(image.mutable_data_ptr());
  for (int64_t i = 0; i < image.numel(); ++i) {
    const auto number = static_cast<uint32_t>(i * 2654435761U);
    const bool is_zero = i < image.numel() / 2;
    bits[i] = is_zero ? number & 0x80000000U : 0x7fc00000U | (number >> 10U);
    if (!is_zero && i % 3 == 0) bits[i] = 0x3f800000U;
  }
  for (const Window& window : kWindows) {
    runner.run("aten::max_pool2d_with_indices", window.max_pool(image), {true, false});
  }
}

TEST(PoolingKernels, MaxPool2dGivesTheSameInSeveralThreads) {
  CaseRunner runner(pooling_kernels());
  const at::Tensor image = make_tensor(at::kFloat, {3, 16, 40, 41});
  const int threads = at::get_num_threads();
  at::set_num_threads(3);
  for (const Window& window : kWindows) {
    runner.run("aten::max_pool2d_with_indices", window.max_pool(image), {true, false});
  }
  at::set_num_threads(threads);
}

}  // namespace
}  // namespace torch_ir
