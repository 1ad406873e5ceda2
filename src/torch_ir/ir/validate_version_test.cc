// Validates the additions of version 2: numbers, symbols, mutations and graphs of nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// y = x + n
IR with_number() {
  IR ir;
  ir.graph_inputs = {meta("x", {2}), number("n")};
  ir.nodes = {node("add", "aten.add.Tensor", {meta("x", {2})}, {meta("add", {2})})};
  ir.nodes[0].attrs = {{"other", ValueRef{"n"}}};
  ir.graph_outputs = {meta("add", {2})};
  return ir;
}

TEST(ValidateVersionTest, NumbersBetweenNodes) {
  EXPECT_THAT(find_problems(with_number()), IsEmpty());
  IR ir = with_number();
  ir.nodes[0].attrs = {{"other", ValueRef{"m"}}};
  EXPECT_THAT(
      find_problems(ir),
      ElementsAre(
          "node 'add': attribute 'other' refers to 'm', which is not a value of the graph"));
  ir.nodes[0].attrs = {{"other", ValueRef{"x"}}};
  EXPECT_THAT(find_problems(ir),
              ElementsAre("node 'add': attribute 'other' refers to 'x', which is "
                          "a tensor, not a number"));
  ir.nodes[0].attrs = {{"other", ValueRef{"add"}}};
  EXPECT_THAT(
      find_problems(ir),
      ElementsAre("node 'add': attribute 'other' refers to 'add', which a later node makes"));
  ir = with_number();
  ir.graph_inputs[1].dtype = "float32";
  EXPECT_THAT(find_problems(ir), ElementsAre("graph input 'n' is a number of dtype "
                                             "float32, expected int64, float64 or bool"));
}

TEST(ValidateVersionTest, SymbolicShapes) {
  IR ir = with_number();
  ir.graph_inputs[0].shape = {kDynamicSize};
  EXPECT_THAT(find_problems(ir),
              ElementsAre("graph input 'x' has a negative size: [-1]",
                          "node 'add': input 'x' has shape [2], but is declared with shape [-1]"));
  ir.graph_inputs[0].symbolic_shape = {"s0 +"};
  EXPECT_THAT(
      find_problems(ir),
      ElementsAre("graph input 'x': the expression 's0 +' ends unexpectedly",
                  "node 'add': input 'x' has shape [2], but is declared with shape [s0 +]"));
  ir = with_number();
  ir.graph_inputs.push_back(meta("y", {kDynamicSize, kDynamicSize}));
  ir.graph_inputs[2].symbolic_shape = {"Foo(s0)", "1//0"};
  EXPECT_THAT(find_problems(ir),
              ElementsAre("graph input 'y': the size 'Foo(s0)' uses the unknown function 'Foo'",
                          "graph input 'y': the size '1//0' has no value"));
  ir = with_number();
  ir.range_constraints = {{"s0", 4, 2}};
  EXPECT_THAT(find_problems(ir),
              ElementsAre("range_constraints: empty range for 's0': at least 4 and at most 2"));
}

TEST(ValidateVersionTest, MutationsAndConstantOutputs) {
  IR ir = with_number();
  ir.graph_outputs[0].mutates = "x";
  ir.constant_outputs = {{1, Attribute()}};
  EXPECT_THAT(find_problems(ir), IsEmpty());
  ir.graph_outputs[0].mutates = "b_count";
  ir.constant_outputs = {{2, Attribute()}};
  EXPECT_THAT(find_problems(ir),
              ElementsAre("graph output 'add' is the new value of 'b_count', which is neither a "
                          "graph input nor a placeholder",
                          "constant_outputs: invalid index 2: there are 2 outputs, and each index "
                          "must be listed once, in order"));
}

IR with_cond() {
  IRGraph branch;
  branch.graph_inputs = {meta("a", {2})};
  branch.graph_outputs = {meta("a", {2})};
  IR ir;
  ir.graph_inputs = {meta("p", {}, "bool"), meta("x", {2})};
  ir.nodes = {node("cond", "higher_order.cond", ir.graph_inputs, {meta("cond", {2})})};
  ir.nodes[0].attrs = {{"_tensor_list_sizes", Attribute::list({1})}};
  ir.nodes[0].graphs = {branch, branch};
  ir.graph_outputs = {meta("cond", {2})};
  return ir;
}

TEST(ValidateVersionTest, GraphsOfNodes) {
  EXPECT_THAT(find_problems(with_cond()), IsEmpty());
  IR ir = with_cond();
  ir.nodes[0].graphs.pop_back();
  EXPECT_THAT(
      find_problems(ir),
      ElementsAre("node 'cond' (higher_order.cond): wrong number of graphs: 1, expected 2"));
  ir = with_cond();
  ir.nodes[0].graphs[1].graph_outputs = {meta("b", {2})};
  EXPECT_THAT(find_problems(ir), ElementsAre("node 'cond', graph 1: graph output 'b' is unknown: "
                                             "no node, graph input or weight has this name"));
  ir = with_cond();
  ir.nodes[0].graphs[0].graph_inputs.push_back(meta("c", {2}));
  EXPECT_THAT(find_problems(ir),
              ElementsAre("node 'cond' (higher_order.cond): the true graph takes "
                          "2 values, found 1"));
  ir = with_cond();
  ir.nodes[0].graphs[0].graph_outputs.clear();
  EXPECT_THAT(find_problems(ir), ElementsAre("node 'cond' (higher_order.cond): the true graph "
                                             "returns 0 values, expected 1"));
  ir = with_number();
  ir.nodes[0].graphs = {IRGraph()};
  EXPECT_THAT(find_problems(ir),
              ElementsAre("node 'add' (aten.add.Tensor): wrong number of graphs: 1, expected 0"));
}

}  // namespace
}  // namespace torch_ir
