// Every operator that has no Meta kernel in LibTorch and that can be called with made-up
// arguments: what it gives on meta tensors now is what it gives on the CPU.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "torch_ir/exporter/meta/meta_cases.h"
#include "torch_ir/exporter/meta/meta_kernels.h"
#include "torch_ir/operators/operator_table.h"
#include "torch_ir/operators/testing/schema_arguments.h"

namespace torch_ir {
namespace {

bool is_functional(const c10::FunctionSchema& schema) {
  return !schema.is_mutable() && !schema.returns().empty() &&
         std::ranges::all_of(schema.returns(), [](const c10::Argument& result) {
           return result.type()->isSubtypeOf(*c10::TensorType::get()) ||
                  result.type()->isSubtypeOf(*c10::ListType::ofTensors());
         });
}

bool lacks_meta_kernel(const c10::OperatorHandle& op) {
  for (const c10::DispatchKey key :
       {c10::DispatchKey::Meta, c10::DispatchKey::CompositeImplicitAutograd,
        c10::DispatchKey::CompositeExplicitAutograd,
        c10::DispatchKey::CompositeExplicitAutogradNonFunctional}) {
    if (op.hasKernelForDispatchKey(key)) return false;
  }
  return op.hasKernelForDispatchKey(c10::DispatchKey::CPU);
}

using Operators = std::vector<c10::OperatorHandle>;

Operators operators_without_meta_kernel() {
  Operators operators;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findSchema(name);
    if (name.name.starts_with("aten::") && op && is_functional(op->schema()) &&
        lacks_meta_kernel(*op)) {
      operators.push_back(*op);
    }
  }
  return operators;
}

// Before anything registers more.
const Operators kWithoutMetaKernel = operators_without_meta_kernel();

// Operators whose result is not dense, or that do not check the made-up arguments before they read
// out of bounds or divide by zero.
bool is_excluded(const std::string& name) {
  static const std::vector<std::string> kPrefixes = {
      "aten::_nested",     "aten::_to_sparse",      "aten::to_mkldnn",
      "aten::quantize_",   "aten::_make_per_",      "aten::_empty_",
      "aten::_pdist_back", "aten::_weight_norm_",   "aten::_scaled_dot_product_flash",
      "aten::_spdiags",    "aten::batch_norm_back", "aten::native_batch_norm_back",
      "aten::quantized_",  "aten::from_file",
  };
  return std::ranges::any_of(kPrefixes,
                             [&](const std::string& prefix) { return name.starts_with(prefix); });
}

std::vector<at::Tensor> examples() {
  std::vector<at::Tensor> examples;
  for (const at::ScalarType dtype :
       {at::kFloat, at::kDouble, at::kBFloat16, at::kLong, at::kBool, at::kComplexFloat}) {
    for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
             {2, 3, 4, 4}, {3, 4, 4}, {4, 4}, {4}, {}, {2, 3, 4, 4, 4}}) {
      examples.push_back(at::ones(sizes, at::TensorOptions(dtype)));
    }
    examples.push_back(at::ones({2, 3, 4, 4}, at::TensorOptions(dtype))
                           .contiguous(at::MemoryFormat::ChannelsLast));
    examples.push_back(at::ones({4, 3}, at::TensorOptions(dtype)).t());
  }
  return examples;
}

TEST(MetaKernelsCoverage, EveryOperatorThatCanBeCalledAgreesWithTheCpu) {
  register_meta_kernels();
  int called = 0;
  for (const c10::OperatorHandle& op : kWithoutMetaKernel) {
    const std::string name = c10::toString(op.operator_name());
    if (is_excluded(name) || may_depend_on_data(op)) continue;
    SCOPED_TRACE(name);
    bool was_called = false;
    for (const at::Tensor& example : examples()) {
      const auto arguments = make_arguments(op.schema(), example);
      if (!arguments) break;
      const Agreement agreement = compare_on_meta(op, *arguments);
      if (agreement.cpu.empty()) continue;
      was_called = true;
      EXPECT_EQ(agreement.meta_error, "") << describe(*arguments);
      EXPECT_EQ(agreement.meta, agreement.cpu) << describe(*arguments);
    }
    called += was_called;
  }
  RecordProperty("without_meta_kernel", static_cast<int>(kWithoutMetaKernel.size()));
  RecordProperty("compared", called);
  // The rest needs arguments that a schema does not tell; see the cases of the
  // meta_rules_*_test.cc.
  EXPECT_GE(called, 100) << "of " << kWithoutMetaKernel.size();
}

TEST(MetaKernelsCoverage, EveryOtherOperatorHasAKernelNow) {
  register_meta_kernels();
  for (const c10::OperatorHandle& op : kWithoutMetaKernel) {
    EXPECT_EQ(op.hasKernelForDispatchKey(c10::DispatchKey::Meta),
              !may_depend_on_data(op) || op.operator_name().name == "aten::repeat_interleave")
        << op.operator_name();
  }
}

}  // namespace
}  // namespace torch_ir
