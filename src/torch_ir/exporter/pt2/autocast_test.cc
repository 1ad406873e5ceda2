#include <ATen/autocast_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/exporter/pt2/graph_reader.h"
#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

// Builds nodes in a graph that has inputs of every kind that autocast distinguishes.
class AutocastTest : public ::testing::Test {
 protected:
  ValueId input(const std::string& name, c10::ScalarType dtype) {
    return builder_.add_input(InputKind::kUserInput,
                              {.shape = {2, 2}, .dtype = dtype, .name = name});
  }

  // The nodes that a call of `target` becomes: each with its target and tensor arguments.
  std::vector<std::string> add(const std::string& target, std::vector<Argument> arguments,
                               c10::ScalarType dtype,
                               const Autocast& autocast = {c10::kCPU, at::kBFloat16}) {
    const std::string name = builder_.new_name("out");
    add_under_autocast({name, target, std::move(arguments)},
                       {{.shape = {2, 2}, .dtype = dtype, .name = name}}, autocast, builder_);
    const Graph& graph = builder_.graph();
    std::vector<std::string> texts;
    for (const Node& node : graph.nodes) {
      std::string text = node.name + " = " + node.target;
      for (const Argument& argument : node.arguments) {
        for_each_value(argument, [&](ValueId id) { text += " " + graph[id].name; });
        const auto* fixed = std::get_if<Attribute>(&argument.value);
        if (fixed != nullptr && argument.name == "dtype" && node.target != "aten.to.dtype") {
          text += " " + dtype_name(*fixed->get_if<c10::ScalarType>());
        }
      }
      texts.push_back(text);
    }
    return texts;
  }

  GraphBuilder builder_;
  const ValueId f32_ = input("f32", at::kFloat);
  const ValueId bf16_ = input("bf16", at::kBFloat16);
  const ValueId f64_ = input("f64", at::kDouble);
};

// Products are in the lower precision, sensitive operators in the higher, and lists in the widest
// of theirs. Other dtypes, and operators without a rule or that nobody knows, stay.
TEST_F(AutocastTest, OperatorsHaveTheirRules) {
  add("aten.mm.default", {{"self", f32_}, {"mat2", bf16_}}, at::kBFloat16);
  add("aten.linear.default", {{"input", bf16_}, {"weight", bf16_}}, at::kBFloat16);
  add("aten.mm.default", {{"self", f64_}, {"mat2", f64_}}, at::kDouble);
  add("aten.cat.default", {{"tensors", ValueList{f32_, bf16_}}}, at::kFloat);
  add("aten.mse_loss.default", {{"self", bf16_}, {"target", f32_}}, at::kFloat);
  add("aten.relu.default", {{"self", f32_}}, at::kFloat);
  EXPECT_THAT(
      add("mine.op.default", {{"x", f32_}}, at::kBFloat16),
      ElementsAre("f32_bfloat16 = aten.to.dtype f32", "out = aten.mm.default f32_bfloat16 bf16",
                  "out_1 = aten.linear.default bf16 bf16", "out_2 = aten.mm.default f64 f64",
                  "bf16_float32 = aten.to.dtype bf16", "out_3 = aten.cat.default f32 bf16_float32",
                  "bf16_float32_1 = aten.to.dtype bf16",
                  "out_4 = aten.mse_loss.default bf16_float32_1 f32",
                  "out_5 = aten.relu.default f32", "out_6 = mine.op.default f32"));
}

// As on a GPU, which need not be here: softmax gives float32, layer norm is cast to it.
TEST_F(AutocastTest, CudaHasRulesOfItsOwn) {
  const Autocast cuda = {c10::kCUDA, at::kHalf};
  const ValueId f16 = input("f16", at::kHalf);
  add("aten.mm.default", {{"self", f32_}, {"mat2", f16}}, at::kHalf, cuda);
  add("aten.softmax.int", {{"self", f16}, {"dim", Attribute(1)}}, at::kFloat, cuda);
  add("aten.softmax.int", {{"self", f16}, {"dim", Attribute(1)}, {"dtype", Attribute()}},
      at::kFloat, cuda);
  add("aten.layer_norm.default", {{"input", f16}, {"normalized_shape", Attribute::list({2})}},
      at::kFloat, cuda);
  EXPECT_THAT(
      add("aten.atan2.default", {{"self", f16}, {"other", f32_}}, at::kFloat, cuda),
      ElementsAre("f32_float16 = aten.to.dtype f32", "out = aten.mm.default f32_float16 f16",
                  "out_1 = aten.softmax.int f16 float32", "out_2 = aten.softmax.int f16 float32",
                  "f16_float32 = aten.to.dtype f16", "out_3 = aten.layer_norm.default f16_float32",
                  "f16_float32_1 = aten.to.dtype f16",
                  "out_4 = aten.atan2.default f16_float32_1 f32"));
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCUDA));
}

// Autocast rejects the second, as its outputs do not show that it casts.
TEST_F(AutocastTest, OperatorsThatCastInsideAreRefused) {
  const auto refused = ThrowsMessage<ExportError>(
      "torch.autocast casts inside of the operator, which is not supported; call it outside of "
      "the region, or cast its arguments in the model");
  EXPECT_THAT(
      [&] {
        add("aten.einsum.default", {{"equation", "ij,kj->ik"}, {"tensors", ValueList{f32_, f32_}}},
            at::kBFloat16);
      },
      refused);
  EXPECT_THAT(
      [&] {
        add("aten.bilinear.default", {{"input1", f32_}, {"input2", f32_}, {"weight", f32_}},
            at::kFloat);
      },
      refused);
}

TEST_F(AutocastTest, TheThreadIsLeftAsItWas) {
  const auto dtype = at::autocast::get_autocast_dtype(at::kCPU);
  add("aten.mm.default", {{"self", f32_}, {"mat2", f32_}}, at::kHalf, {c10::kCPU, at::kHalf});
  EXPECT_EQ(builder_.graph()[*builder_.find("f32_float16")].dtype, at::kHalf);
  EXPECT_EQ(at::autocast::get_autocast_dtype(at::kCPU), dtype);
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
}

}  // namespace
}  // namespace torch_ir
