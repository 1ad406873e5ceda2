#include "torch_ir/quantized/quantized.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace torch_ir {
namespace {

// Python's kernel returns a dimension more than its meta kernel declares there.
TEST(QuantizedOperators, RefuseANegativeAxisOfFakeQuantPerChannel) {
  define_quantized_operators();
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(
      "quantized_decomposed::fake_quant_per_channel", "");
  const at::Tensor ones = at::ones({2, 2});
  torch::jit::Stack stack = {ones, at::ones({2}), at::ones({2}), -1, -8, 7};
  try {
    op.callBoxed(stack);
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_THAT(error.what_without_backtrace(), ::testing::HasSubstr("an axis of 0 or more"));
  }
}

}  // namespace
}  // namespace torch_ir
