#include "torch_ir/cases/suite_case.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/program_graphs.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

OperatorCase case_of(std::string op_type, std::vector<c10::IValue> arguments) {
  return {.op_type = std::move(op_type),
          .variant = "usual",
          .category = "test",
          .arguments = [arguments = std::move(arguments)] { return arguments; }};
}

TEST(SuiteCaseTest, IsTheCallAsAGraph) {
  const at::Tensor input = at::ones({1, 4, 5, 5});
  const at::Tensor weight = at::ones({6, 2, 3, 3});
  const SuiteCase suite_case = make_suite_case(
      case_of("aten.conv2d.default", {input, weight, c10::IValue(), std::vector<int64_t>{2, 1},
                                      std::vector<int64_t>{0, 1}, std::vector<int64_t>{1, 1}, 2}));
  const Program& program = *suite_case.content.program;
  EXPECT_THAT(find_problems(to_ir(program)), IsEmpty());
  EXPECT_THAT(names_of(program, program.user_inputs()), ElementsAre("input", "weight"));
  ASSERT_EQ(program.nodes.size(), 1u);
  EXPECT_EQ(program.nodes[0].target, "aten.conv2d.default");
  EXPECT_EQ(*program.nodes[0].find_attribute("groups"), Attribute(2));
  EXPECT_THAT(program[program.outputs.at(0)].shape, ElementsAre(1, 6, 2, 5));
  ASSERT_EQ(suite_case.content.expected.size(), 1u);
  EXPECT_TRUE(at::equal(suite_case.content.expected[0],
                        at::conv2d(input, weight, {}, {2, 1}, at::IntArrayRef({0, 1}), 1, 2)));
  EXPECT_EQ(suite_case.info.name, "aten.conv2d.default/float32/usual");
}

TEST(SuiteCaseTest, NamesTensorsOfListsAndGivesEachOnce) {
  const at::Tensor a = at::ones({2});
  const SuiteCase suite_case = make_suite_case(
      case_of("aten.cat.default", {c10::List<at::Tensor>({a, at::ones({3}), a}), 0}));
  const Program& program = *suite_case.content.program;
  EXPECT_THAT(names_of(program, program.user_inputs()), ElementsAre("tensors_0", "tensors_1"));
  EXPECT_THAT(names_of(program, program.nodes[0].inputs()),
              ElementsAre("tensors_0", "tensors_1", "tensors_0"));
  EXPECT_EQ(suite_case.content.inputs.size(), 2u);
}

TEST(SuiteCaseTest, HasNumbersAsOutputs) {
  const SuiteCase suite_case = make_suite_case(case_of("aten.sym_size.int", {at::ones({2, 7}), 1}));
  const Program& program = *suite_case.content.program;
  ASSERT_EQ(program.outputs.size(), 1u);
  EXPECT_TRUE(program[program.outputs[0]].is_scalar);
  EXPECT_EQ(suite_case.content.expected[0].item<int64_t>(), 7);
}

TEST(SuiteCaseTest, SaysWhatCanNotBeCalled) {
  EXPECT_THAT([] { make_suite_case(case_of("aten.nothing.default", {})); },
              ThrowsMessage<Error>("LibTorch has no operator aten.nothing.default"));
  EXPECT_THAT([] { make_suite_case(case_of("aten.mm.default", {at::ones({2}), at::ones({2})})); },
              ThrowsMessage<Error>(HasSubstr("aten.mm.default/float32/usual: ")));
}

}  // namespace
}  // namespace torch_ir
