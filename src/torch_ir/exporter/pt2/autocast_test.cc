#include "torch_ir/exporter/pt2/autocast.h"

#include <ATen/autocast_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

ValueMeta matrix(c10::ScalarType dtype) { return {{2, 2}, dtype}; }

// Inputs of every kind that autocast tells apart.
GraphBuilder make_builder() {
  GraphBuilder builder;
  builder.add_input(InputKind::kUserInput, "f32", "", matrix(at::kFloat));
  builder.add_input(InputKind::kUserInput, "bf16", "", matrix(at::kBFloat16));
  builder.add_input(InputKind::kUserInput, "f64", "", matrix(at::kDouble));
  builder.add_input(InputKind::kUserInput, "cube", "", {{2, 2, 2}, at::kFloat});
  return builder;
}

// The nodes that `node` becomes: target and the tensors it takes.
std::vector<std::string> under_autocast(ExportedNode node, const ValueMeta& output) {
  GraphBuilder builder = make_builder();
  node.name = "out";
  node.outputs = {"out"};
  add_under_autocast(std::move(node), {output}, at::kBFloat16, builder);
  std::vector<std::string> texts;
  for (const ExportedNode& added : builder.graph().nodes) {
    std::string text = added.name + " = " + added.target;
    for (const ExportedArgument& argument : added.arguments) {
      if (const auto* ref = std::get_if<ValueRef>(&argument.value)) text += " " + ref->name;
      if (const auto* list = std::get_if<ValueList>(&argument.value)) {
        for (const auto& item : *list) text += " " + (item ? item->name : "None");
      }
    }
    texts.push_back(text);
  }
  return texts;
}

ExportedArgument value(const std::string& argument, const std::string& name) {
  return {argument, ValueRef{name}};
}

TEST(AutocastTest, MatrixProductsAreInTheLowerPrecision) {
  EXPECT_THAT(
      under_autocast({"", "aten.mm.default", {value("self", "f32"), value("mat2", "bf16")}, {}},
                     matrix(at::kBFloat16)),
      ElementsAre("f32_bfloat16 = aten.to.dtype f32", "out = aten.mm.default f32_bfloat16 bf16"));
  // Optional arguments that are not given stay away.
  EXPECT_THAT(
      under_autocast(
          {"", "aten.linear.default", {value("input", "bf16"), value("weight", "bf16")}, {}},
          matrix(at::kBFloat16)),
      ElementsAre("out = aten.linear.default bf16 bf16"));
}

TEST(AutocastTest, OtherKindsAreNotCast) {
  EXPECT_THAT(
      under_autocast({"", "aten.mm.default", {value("self", "f64"), value("mat2", "f64")}, {}},
                     matrix(at::kDouble)),
      ElementsAre("out = aten.mm.default f64 f64"));
}

TEST(AutocastTest, ListsAreCastToTheWidest) {
  const ValueList tensors = {ValueRef{"f32"}, ValueRef{"bf16"}};
  EXPECT_THAT(
      under_autocast({"", "aten.cat.default", {{"tensors", tensors}}, {}}, matrix(at::kFloat)),
      ElementsAre("bf16_float32 = aten.to.dtype bf16", "out = aten.cat.default f32 bf16_float32"));
}

TEST(AutocastTest, SensitiveOperatorsAreInTheHigherPrecision) {
  EXPECT_THAT(
      under_autocast(
          {"", "aten.mse_loss.default", {value("self", "bf16"), value("target", "f32")}, {}},
          matrix(at::kFloat)),
      ElementsAre("bf16_float32 = aten.to.dtype bf16",
                  "out = aten.mse_loss.default bf16_float32 f32"));
}

TEST(AutocastTest, OperatorsWithoutRuleStay) {
  EXPECT_THAT(
      under_autocast({"", "aten.relu.default", {value("self", "f32")}, {}}, matrix(at::kFloat)),
      ElementsAre("out = aten.relu.default f32"));
  EXPECT_THAT(
      under_autocast({"", "mine.op.default", {value("x", "f32")}, {}}, matrix(at::kBFloat16)),
      ElementsAre("out = mine.op.default f32"));
}

TEST(AutocastTest, CompositeOperatorsAreTakenApart) {
  const std::vector<std::string> nodes =
      under_autocast({"",
                      "aten.einsum.default",
                      {{"equation", Attribute("ij,kj->ik")},
                       {"tensors", ValueList{ValueRef{"f32"}, ValueRef{"f32"}}}},
                      {}},
                     matrix(at::kBFloat16));
  EXPECT_THAT(nodes, ::testing::Contains(HasSubstr("aten.to.dtype")));
  EXPECT_THAT(nodes, ::testing::Contains(HasSubstr("aten.bmm.default")));
  EXPECT_THAT(nodes.back(), ::testing::StartsWith("out = "));
}

// Its inputs and outputs are float32, and the product inside is not.
TEST(AutocastTest, CastsThatOutputsDoNotShowAreFound) {
  const std::vector<std::string> nodes =
      under_autocast({"",
                      "aten.bilinear.default",
                      {value("input1", "f32"), value("input2", "f32"), value("weight", "cube")},
                      {}},
                     matrix(at::kFloat));
  EXPECT_THAT(nodes, ::testing::Contains(HasSubstr("aten.bmm.default")));
  EXPECT_THAT(nodes, ::testing::Contains(HasSubstr("aten.to.dtype")));
}

TEST(AutocastTest, WhatCanNotBeTakenApartIsRefused) {
  GraphBuilder builder;
  builder.add_input(InputKind::kUserInput, "x", "", {{kDynamicSize, 2}, at::kFloat, {"s0", ""}});
  ExportedNode node = {
      "out",
      "aten.einsum.default",
      {{"equation", Attribute("ij,kj->ik")}, {"tensors", ValueList{ValueRef{"x"}, ValueRef{"x"}}}},
      {"out"}};
  EXPECT_THAT([&] { add_under_autocast(node, {matrix(at::kBFloat16)}, at::kBFloat16, builder); },
              ThrowsMessage<ExportError>("torch.autocast casts inside of the operator, and its "
                                         "shapes are not known before it runs; "
                                         "ExportedProgram.run_decompositions() before "
                                         "torch.export.save makes the casts explicit"));
}

// LibTorch reads outside of states that are not there.
TEST(AutocastTest, RecurrentStatesThatDoNotFitAreRefused) {
  const auto add_lstm = [](int64_t num_states) {
    GraphBuilder builder;
    const auto add = [&](const char* name, std::vector<int64_t> shape) {
      builder.add_input(InputKind::kUserInput, name, "", {std::move(shape), at::kFloat});
    };
    add("x", {2, 1, 3});
    add("h", {1, 1, 4});
    add("c", {num_states, 1, 4});
    add("input_weight", {16, 3});
    add("hidden_weight", {16, 4});
    add_under_autocast({"out",
                        "aten.lstm.input",
                        {value("input", "x"),
                         {"hx", ValueList{ValueRef{"h"}, ValueRef{"c"}}},
                         {"params", ValueList{ValueRef{"input_weight"}, ValueRef{"hidden_weight"}}},
                         {"has_biases", Attribute(false)},
                         {"num_layers", Attribute(1)},
                         {"dropout", Attribute(0.0)},
                         {"train", Attribute(false)},
                         {"bidirectional", Attribute(false)},
                         {"batch_first", Attribute(false)}},
                        {"out", "h_n", "c_n"}},
                       {{{2, 1, 4}, at::kFloat}, {{1, 1, 4}, at::kFloat}, {{1, 1, 4}, at::kFloat}},
                       at::kBFloat16, builder);
  };
  EXPECT_NO_THROW(add_lstm(1));
  EXPECT_THAT(
      [&] { add_lstm(0); },
      ThrowsMessage<ExportError>(HasSubstr("hx 1 has shape [0, 1, 4], but should have [1, 1, 4]")));
}

TEST(AutocastTest, TheThreadIsLeftAsItWas) {
  const auto dtype = at::autocast::get_autocast_dtype(at::kCPU);
  GraphBuilder builder = make_builder();
  add_under_autocast(
      {"out", "aten.mm.default", {value("self", "f32"), value("mat2", "f32")}, {"out"}},
      {matrix(at::kHalf)}, at::kHalf, builder);
  EXPECT_EQ(builder.find("f32_float16")->dtype, at::kHalf);
  EXPECT_EQ(at::autocast::get_autocast_dtype(at::kCPU), dtype);
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
}

}  // namespace
}  // namespace torch_ir
