#include <ATen/core/dispatch/Dispatcher.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>

#include <set>
#include <string>
#include <string_view>

#include "torch_ir/runtime/kernels/families.h"

namespace torch_ir {
namespace {

TEST(KernelTable, HasOperatorsThatExistOnce) {
  std::set<std::string_view> names;
  for (const KernelTable family : kernel_families()) {
    for (const KernelEntry& entry : family) {
      const std::string name(entry.operator_name);
      EXPECT_TRUE(c10::Dispatcher::singleton().findSchema(torch::jit::parseName(name)))
          << name << " is not an operator";
      EXPECT_NE(find_kernel(name), nullptr) << name;
      EXPECT_TRUE(names.insert(entry.operator_name).second) << name;
    }
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"aten::add.Tensor", "aten::copy_", "aten::mm"}));
}

TEST(KernelTable, GivesOperatorsThatWriteInPlaceTheKernelOfTheirFunctionalForm) {
  EXPECT_EQ(find_kernel("aten::add_.Tensor"), find_kernel("aten::add.Tensor"));
  EXPECT_EQ(find_kernel("aten::tanh_"), find_kernel("aten::tanh"));
  EXPECT_EQ(find_kernel("aten::__and__.Tensor"), nullptr);
}

TEST(KernelTable, HasNoKernelForUnknownOperators) {
  for (const char* name : {"aten::mkldnn_convolution", "", "out", "aten::"}) {
    EXPECT_EQ(find_kernel(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace torch_ir
