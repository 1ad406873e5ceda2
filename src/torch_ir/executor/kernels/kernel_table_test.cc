#include <ATen/core/dispatch/Dispatcher.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "torch_ir/executor/kernels/kernel.h"

namespace torch_ir {
namespace {

TEST(KernelTable, HasOperatorsThatExist) {
  for (const std::string& name : operators_with_kernels()) {
    const size_t dot = std::min(name.find('.'), name.size());
    const std::string overload = dot == name.size() ? "" : name.substr(dot + 1);
    EXPECT_TRUE(c10::Dispatcher::singleton().findSchema({name.substr(0, dot), overload}))
        << name << " is no operator";
    EXPECT_NE(find_kernel(name), nullptr) << name;
  }
}

TEST(KernelTable, IsSortedAndHasEachOperatorOnce) {
  const std::vector<std::string> names = operators_with_kernels();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_THAT(names, testing::IsSupersetOf({"aten::add.Tensor", "aten::copy_", "aten::mm"}));
}

TEST(KernelTable, GivesOperatorsThatWriteInPlaceTheKernelOfTheirFunctionalForm) {
  EXPECT_EQ(find_kernel("aten::add_.Tensor"), find_kernel("aten::add.Tensor"));
  EXPECT_EQ(find_kernel("aten::tanh_"), find_kernel("aten::tanh"));
  EXPECT_EQ(find_kernel("aten::__and__.Tensor"), nullptr);
}

TEST(KernelTable, GivesOperatorsThatWriteToAnArgumentTheKernelOfThoseThatReturn) {
  EXPECT_EQ(find_kernel("aten::add.out"), find_kernel("aten::add.Tensor"));
  EXPECT_EQ(find_kernel("aten::tanh.out"), find_kernel("aten::tanh"));
  EXPECT_EQ(find_kernel("aten::eq.Scalar_out"), find_kernel("aten::eq.Scalar"));
}

TEST(KernelTable, HasNoKernelForUnknownOperators) {
  EXPECT_EQ(find_kernel("aten::mkldnn_convolution"), nullptr);
  EXPECT_EQ(find_kernel(""), nullptr);
  EXPECT_EQ(find_kernel("out"), nullptr);
  EXPECT_EQ(find_kernel("aten::"), nullptr);
}

}  // namespace
}  // namespace torch_ir
