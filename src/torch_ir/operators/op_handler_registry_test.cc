#include "torch_ir/operators/op_handler_registry.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::ThrowsMessage;

constexpr char kGetItem[] = "<built-in function getitem>";
constexpr char kPrint[] = "aten._print.default";
constexpr char kGroupedMm[] = "transformers.grouped_mm_fallback.default";

OpNode grouped_mm_node() {
  OpNode node;
  node.inputs.resize(3);
  node.inputs[0].arg = "input";
  node.inputs[1].arg = "weight";
  node.inputs[2].arg = "offs";
  return node;
}

TEST(OpHandlerRegistry, GroupedMmMultipliesEachGroupWithItsMatrix) {
  const at::Tensor input = at::rand({5, 3});
  const at::Tensor weight = at::rand({3, 3, 2});
  const at::Tensor ends = at::tensor({2, 2, 4}, at::kInt);
  const at::Tensor output =
      find_op_handler(kGroupedMm)(grouped_mm_node(), {input, weight, ends}).at(0);
  EXPECT_TRUE(output.slice(0, 0, 2).equal(input.slice(0, 0, 2).mm(weight[0])));
  EXPECT_TRUE(output.slice(0, 2, 4).equal(input.slice(0, 2, 4).mm(weight[2])));
  EXPECT_TRUE(output[4].equal(at::zeros({2})));
  EXPECT_THAT(
      [&] { find_op_handler(kGroupedMm)(grouped_mm_node(), {input, weight, at::tensor({2, 9})}); },
      ThrowsMessage<ExecutionError>(
          "invalid end of group 1: it ends at row 9, but begins at 2, and there are 5 rows"));
}

// A graph from a file must not be able to control the terminal.
TEST(OpHandlerRegistry, PrintWritesOneHarmlessLineToStderr) {
  OpNode node;
  node.attrs.set("s", Attribute("a\x1b[2J\nb"));
  ::testing::internal::CaptureStderr();
  EXPECT_THAT(find_op_handler(kPrint)(node, {}), IsEmpty());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "a\\x1b[2J\\x0ab\n");
}

TEST(OpHandlerRegistry, GetitemReturnsOneOfItsInputs) {
  const OpHandler getitem = find_op_handler(kGetItem);
  const std::vector<at::Tensor> inputs = {at::ones({1}), at::ones({2})};
  OpNode node;
  EXPECT_THAT([&] { getitem(node, inputs); },
              ThrowsMessage<ExecutionError>("attribute 'index' must be an integer"));
  node.attrs.set("index", Attribute(1));
  EXPECT_TRUE(getitem(node, inputs).at(0).is_same(inputs[1]));
  for (const int index : {-1, 2}) {
    node.attrs.set("index", Attribute(index));
    EXPECT_THAT(
        [&] { getitem(node, inputs); },
        ThrowsMessage<ExecutionError>(HasSubstr("is out of range: the number of inputs is 2")));
  }
}

TEST(OpHandlerRegistry, KeepsTheLatestUntilItIsTakenAway) {
  const auto returning = [](int64_t size) {
    return [size](const OpNode&, const std::vector<at::Tensor>&) {
      return std::vector<at::Tensor>{at::ones({size})};
    };
  };
  register_executor("my.op.default", returning(1));
  register_executor("my.op.default", returning(2));
  EXPECT_THAT(list_registered_op_handlers(),
              ElementsAre(kGetItem, kPrint, "my.op.default", kGroupedMm));
  EXPECT_EQ(find_op_handler("my.op.default")(OpNode(), {}).at(0).size(0), 2);
  register_executor("my.op.default", {});
  EXPECT_THAT(list_registered_op_handlers(), Not(Contains("my.op.default")));
  EXPECT_FALSE(find_op_handler("my.op.default"));
}

}  // namespace
}  // namespace torch_ir
