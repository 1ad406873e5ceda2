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

torch::jit::Stack stack_of(const OpNode& node) {
  return make_stack(node, *find_schema(node.op_type),
                    [](const std::string& name) { return stack_values().at(name); });
}

TEST(StackTest, TakesInputsAttributesAndDefaults) {
  const torch::jit::Stack stack =
      stack_of({.name = "n",
                .op_type = "aten.sum.dim_IntList",
                .inputs = {{.name = "x", .shape = {2, 3}, .dtype = "float32"}},
                .outputs = {},
                .attrs = {{"dim", Attribute::list({1})}}});
  ASSERT_EQ(stack.size(), 4);
  EXPECT_TRUE(stack[0].toTensor().is_same(stack_values().at("x").toTensor()));
  EXPECT_THAT(stack[1].toIntVector(), ElementsAre(1));
  EXPECT_FALSE(stack[2].toBool());
  EXPECT_TRUE(stack[3].isNone());
}

TEST(StackTest, MakesListsThatHoldNone) {
  OpNode node{
      .name = "n", .op_type = "aten.index.Tensor", .inputs = {}, .outputs = {}, .attrs = {}};
  encode_arguments(*find_schema(node.op_type),
                   {TensorMeta{.name = "x", .shape = {2, 3}, .dtype = "float32"},
                    std::vector<std::optional<TensorMeta>>{
                        std::nullopt, TensorMeta{.name = "index", .shape = {1}, .dtype = "int64"}}},
                   node);
  const auto indices = stack_of(node).at(1).toOptionalTensorList();
  ASSERT_EQ(indices.size(), 2);
  EXPECT_FALSE(indices.get(0).has_value());
  EXPECT_TRUE(indices.get(1)->is_same(stack_values().at("index").toTensor()));
}

TEST(StackTest, TakesNumbersFromValues) {
  OpNode node{.name = "n",
              .op_type = "aten.view.default",
              .inputs = {{.name = "x", .shape = {2, 3}, .dtype = "float32"}},
              .outputs = {},
              .attrs = {{"size", Attribute::list({Attribute(1), Attribute(ValueRef{"n"})})}}};
  EXPECT_THAT(stack_of(node).at(1).toIntVector(), ElementsAre(1, 6));
  node.attrs.set("size", Attribute::list({Attribute(ValueRef{"x"})}));
  EXPECT_THROW(stack_of(node), ExecutionError);
}

TEST(StackTest, TakesArgumentsByName) {
  using Given = std::variant<ValueRef, std::vector<std::optional<ValueRef>>, Attribute>;
  const std::map<std::string, Given> given = {
      {"tensors", std::vector<std::optional<ValueRef>>{ValueRef{"x"}, ValueRef{"x"}}}};
  const auto find_given = [&](const c10::Argument& argument) {
    const auto found = given.find(argument.name());
    return found == given.end() ? nullptr : &found->second;
  };
  const torch::jit::Stack stack =
      make_stack(*find_schema("aten.cat.default"), find_given,
                 [](const ValueRef& ref) { return stack_values().at(ref.name); });
  ASSERT_EQ(stack.size(), 2);
  EXPECT_EQ(stack[0].toTensorVector().size(), 2);
  EXPECT_EQ(stack[1].toInt(), 0);
}

}  // namespace
}  // namespace torch_ir
