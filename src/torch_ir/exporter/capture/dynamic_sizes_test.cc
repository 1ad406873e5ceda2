#include "torch_ir/exporter/capture/dynamic_sizes.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include "torch_ir/base/error.h"
#include "torch_ir/base/testing/error_of.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

using Forward = at::Tensor (*)(const at::Tensor&);

Program capture(Forward forward, const at::Tensor& x, std::vector<DynamicSize> sizes) {
  const Model model(
      [=](const std::vector<at::Tensor>& inputs) { return std::vector{forward(inputs[0])}; });
  return export_model(model, {x}, {.dynamic = std::move(sizes)});
}

std::string capture_error(Forward forward, std::vector<DynamicSize> sizes) {
  return error_of<ExportError>([&] { capture(forward, at::ones({2, 6}), std::move(sizes)); });
}

// "add: [batch, 4] sum_1 + 1" for each node: its name, shape and attributes.
std::vector<std::string> lines(const Program& program) {
  std::vector<std::string> lines;
  for (const Node& node : program.nodes) {
    const Value& value = program[node.outputs[0]];
    std::string line = node.name + ": ";
    line += value.is_scalar ? value.expression : shape_list_text(value);
    for (const Argument& argument : node.arguments) {
      const auto* attribute = std::get_if<Attribute>(&argument.value);
      if (attribute != nullptr) line += " " + argument.name + "=" + attribute_text(*attribute);
    }
    lines.push_back(line);
  }
  return lines;
}

at::Tensor tokens_with_heads(const at::Tensor& x) {
  const int64_t batch = x.size(0);
  const int64_t length = x.size(1);
  at::Tensor tokens = at::cat({at::zeros({batch, 1, 6}, x.options()), x}, 1);
  tokens = tokens.view({batch, length + 1, 2, 3}).transpose(1, 2);
  const at::Tensor positions = at::arange(length + 1, x.options());
  return (tokens + positions.unsqueeze(1)).reshape({batch * 2 * (length + 1), 3});
}

const std::vector<DynamicSize> kBatchAndLength = {{"x", 0, "batch", 1, 64},
                                                  {"x", 1, "length", 1, {}}};

TEST(DynamicSizesTest, BecomeSymbolsInShapesAndNumbersInAttributes) {
  for (const at::Tensor& x :
       {at::ones({2, 5, 6}), at::empty({2, 5, 6}, at::TensorOptions(at::kMeta))}) {
    const Program program = capture(tokens_with_heads, x, kBatchAndLength);
    EXPECT_EQ(shape_list_text(program[program.user_inputs()[0]]), "[batch, length, 6]");
    EXPECT_THAT(
        lines(program),
        ElementsAre("sym_size_int: batch dim=0", "sym_size_int_1: length dim=1",
                    "add_1: length + 1 a=%sym_size_int_1 b=1",
                    "mul: batch*length a=%sym_size_int b=%sym_size_int_1",
                    "mul_1: 2*batch*length a=%mul b=2", "mul_2: 2*batch a=%sym_size_int b=2",
                    "add_2: 2*batch*length + 2*batch a=%mul_1 b=%mul_2",
                    StartsWith("zeros: [batch, 1, 6] size=[%sym_size_int, 1, 6] "),
                    "cat: [batch, length + 1, 6] dim=1",
                    "view: [batch, length + 1, 2, 3] size=[%sym_size_int, %add_1, 2, 3]",
                    "transpose: [batch, 2, length + 1, 3] dim0=1 dim1=2",
                    StartsWith("arange: [length + 1] end=%add_1 "),
                    "unsqueeze: [length + 1, 1] dim=1", "add: [batch, 2, length + 1, 3]",
                    "reshape: [2*batch*length + 2*batch, 3] shape=[%add_2, 3]"));
    ASSERT_EQ(program.range_constraints.size(), 2u);
    EXPECT_EQ(program.range_constraints[0], (SymbolRange{"batch", 1, 64}));
    EXPECT_EQ(program.range_constraints[1], (SymbolRange{"length", 1, {}}));
  }
}

TEST(DynamicSizesTest, OneNumberForAllDimensionsIsInEach) {
  const Program program =
      capture([](const at::Tensor& x) { return at::avg_pool2d(x, x.size(2)); },
              at::ones({1, 1, 4, 4}), {{"x", 2, "side", 2, 8}, {"x", 3, "side", 2, 8}});
  EXPECT_THAT(lines(program),
              ElementsAre("sym_size_int: side dim=2",
                          "avg_pool2d: [1, 1, 1, 1] kernel_size=[%sym_size_int, %sym_size_int]"));
}

TEST(DynamicSizesTest, RefuseModelsThatFollowThemInOtherWays) {
  const auto error_of = [](Forward forward) {
    return capture_error(forward, {{"x", 1, "length", 2, 20}});
  };
  EXPECT_EQ(error_of([](const at::Tensor& x) { return x * (1.0 / x.size(1)); }),
            "cannot export the model: node 'mul' (aten.mul.Tensor): argument 'other' is "
            "0.16666666666666666 at length = 6 and 0.14285714285714285 at length = 7, which is no "
            "sum of products of the sizes");
  EXPECT_EQ(error_of([](const at::Tensor& x) { return x.slice(1, 0, x.size(1), 2); }),
            "cannot export the model: node 'slice_1': dimension 1 of its output is 3 at length = 6 "
            "and 4 at length = 7, which is no sum of products of the sizes");
  EXPECT_EQ(
      error_of([](const at::Tensor& x) { return x.size(1) > 6 ? x.exp() : x.log(); }),
      "cannot export the model: at length = 7 the model makes other calls than at length = 6: "
      "call 0 is aten.exp.default and not aten.log.default");
  EXPECT_EQ(
      error_of([](const at::Tensor& x) { return x.size(1) > 2 ? x.exp() : x; }),
      "cannot export the model: at length = 2 the model makes other calls than at length = 6: "
      "call 0 is nothing more and not aten.exp.default");
  EXPECT_EQ(
      error_of([](const at::Tensor& x) {
        return x * torch::tensor({{1.f}, {static_cast<float>(x.size(1))}});
      }),
      "cannot export the model: constant 'lifted_tensor_0' differs between length = 6 and "
      "length = 7: make it from sizes with operators that take them, such as torch::arange and "
      "torch::full");
  EXPECT_THAT(error_of([](const at::Tensor& x) { return x + at::ones({6}); }),
              StartsWith("cannot export the model: at length = 7: aten::add failed: "));
}

TEST(DynamicSizesTest, HaveToFitTheExample) {
  const auto error_of = [](std::vector<DynamicSize> sizes) {
    return capture_error([](const at::Tensor& x) { return x.exp(); }, std::move(sizes));
  };
  const std::string start = "cannot export the model: dynamic size 'n'";
  EXPECT_EQ(error_of({{"y", 0, "n", 1, 4}}), start + " is of input 'y', but the inputs are 'x'");
  EXPECT_EQ(error_of({{"x", 2, "n", 1, 4}}),
            start + ": input 'x' has no dimension 2, only 2 of them");
  EXPECT_EQ(error_of({{"x", 1, "n", 1, 4}}),
            start + ": it is from 1 to 4, but dimension 1 of input 'x' is 6");
  EXPECT_EQ(error_of({{"x", 0, "n", 2, 2}}), start + ": it is from 2 to 2, which leaves no choice");
  EXPECT_EQ(error_of({{"x", 0, "n"}, {"x", 1, "n"}}),
            start + ": it is 2 in one input and 6 in 'x'");
  EXPECT_EQ(error_of({{"x", 0, "n + 1"}}),
            "cannot export the model: dynamic size 'n + 1': its name must have letters, digits and "
            "'_' only");
}

}  // namespace
}  // namespace torch_ir
