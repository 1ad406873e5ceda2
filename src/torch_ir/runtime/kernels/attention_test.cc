#include <gtest/gtest.h>

#include "torch_ir/runtime/kernels/testing/kernel_cases.h"

namespace torch_ir {
namespace {

TEST(AttentionKernels, GiveTheBitsOfTheDispatcher) {
  CaseRunner runner(attention_kernels());
  const char* op = "aten::_scaled_dot_product_flash_attention_for_cpu";
  const c10::IValue none;
  for (const at::ScalarType dtype : kFloats) {
    for (const int64_t queries : {1, 7, 64}) {
      for (const int64_t keys : {1, 7, 70}) {
        const auto make = [&](int64_t rows) {
          return make_tensor(dtype, {2, 4, rows, 16}, Layout::kContiguous, Values::kFinite);
        };
        // As models have it: heads split from the last dimension.
        const auto make_split = [&](int64_t rows) {
          return make_tensor(dtype, {2, rows, 4, 16}, Layout::kContiguous, Values::kFinite)
              .transpose(1, 2);
        };
        runner.run(op, {make(queries), make(keys), make(keys)});
        runner.run(op, {make_split(queries), make_split(keys), make_split(keys), 0.0, true});
        runner.run(
            op, {make_split(queries), make_split(keys), make_split(keys), 0.0, false, none, 0.5});
        const at::Tensor mask =
            make_tensor(dtype, {2, 1, queries, keys}, Layout::kContiguous, Values::kFinite);
        runner.run(op, {make(queries), make(keys), make(keys), 0.0, false, mask});
        const at::Tensor allowed = make_tensor(at::kBool, {queries, keys});
        runner.run(op, {make(queries), make(keys), make(keys), 0.0, false, allowed});
      }
    }
  }
  runner.expect_all_taken();
}

}  // namespace
}  // namespace torch_ir
