#include "torch_ir/ir/stack.h"

#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/binding.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;

const std::map<std::string, c10::IValue>& stack_values() {
  static const std::map<std::string, c10::IValue> values = {
      {"x", at::full({2, 3}, 1)}, {"index", at::full({1}, 1, at::kLong)}, {"n", int64_t{6}}};
  return values;
}

using StackList = std::vector<std::optional<ValueRef>>;
using GivenForStack = std::map<std::string, std::variant<ValueRef, StackList, Attribute>>;

torch::jit::Stack stack_of(const std::string& op_type, const GivenForStack& given) {
  const auto find_given = [&](const c10::Argument& argument) {
    const auto found = given.find(argument.name());
    return found == given.end() ? nullptr : &found->second;
  };
  return make_stack(*find_schema(op_type), find_given,
                    [](const ValueRef& ref) { return stack_values().at(ref.name); });
}

TEST(StackTest, TakesInputsAttributesAndDefaults) {
  const torch::jit::Stack stack =
      stack_of("aten.sum.dim_IntList", {{"self", ValueRef{"x"}}, {"dim", Attribute::list({1})}});
  ASSERT_EQ(stack.size(), 4);
  EXPECT_TRUE(stack[0].toTensor().is_same(stack_values().at("x").toTensor()));
  EXPECT_THAT(stack[1].toIntVector(), ElementsAre(1));
  EXPECT_FALSE(stack[2].toBool());
  EXPECT_TRUE(stack[3].isNone());
}

TEST(StackTest, MakesListsWhichMayHoldNone) {
  const torch::jit::Stack stack =
      stack_of("aten.cat.default", {{"tensors", StackList{ValueRef{"x"}, ValueRef{"x"}}}});
  ASSERT_EQ(stack.size(), 2);
  EXPECT_EQ(stack[0].toTensorVector().size(), 2);
  EXPECT_EQ(stack[1].toInt(), 0);
  const GivenForStack given = {{"self", ValueRef{"x"}},
                               {"indices", StackList{std::nullopt, ValueRef{"index"}}}};
  const auto indices = stack_of("aten.index.Tensor", given).at(1).toOptionalTensorList();
  ASSERT_EQ(indices.size(), 2);
  EXPECT_FALSE(indices.get(0).has_value());
  EXPECT_TRUE(indices.get(1)->is_same(stack_values().at("index").toTensor()));
}

TEST(StackTest, TakesNumbersFromValues) {
  const auto sizes_with = [](const char* name) {
    return stack_of("aten.view.default",
                    {{"self", ValueRef{"x"}},
                     {"size", Attribute::list({Attribute(1), Attribute(ValueRef{name})})}})
        .at(1)
        .toIntVector();
  };
  EXPECT_THAT(sizes_with("n"), ElementsAre(1, 6));
  EXPECT_THROW(sizes_with("x"), ExecutionError);
}

}  // namespace
}  // namespace torch_ir
