// Validates the additions of version 2: numbers, symbols, mutations and graphs of nodes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

// y = x + n
IR with_number() {
  IR ir;
  ir.graph_inputs = {meta("x", {2}), number("n")};
  ir.nodes = {node("add", "aten.add.Tensor", {meta("x", {2})}, {meta("add", {2})})};
  ir.nodes[0].attrs = {{"other", ValueRef{"n"}}};
  ir.graph_outputs = {meta("add", {2})};
  return ir;
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

// A change to a graph, and the problems that it causes.
struct VersionChange {
  IR (*graph)();
  void (*make)(IR&);
  std::vector<std::string> problems;
};

TEST(ValidateVersionTest, FindsTheProblems) {
  const VersionChange changes[] = {
      {with_number, [](IR&) {}, {}},
      // Numbers between nodes.
      {with_number,
       [](IR& ir) { ir.nodes[0].attrs = {{"other", ValueRef{"m"}}}; },
       {"node 'add': attribute 'other' refers to 'm', which is not a value of the graph"}},
      {with_number,
       [](IR& ir) { ir.nodes[0].attrs = {{"other", ValueRef{"x"}}}; },
       {"node 'add': attribute 'other' refers to 'x', which is a tensor, not a number"}},
      {with_number,
       [](IR& ir) { ir.nodes[0].attrs = {{"other", ValueRef{"add"}}}; },
       {"node 'add': attribute 'other' refers to 'add', which a later node makes"}},
      {with_number,
       [](IR& ir) { ir.graph_inputs[1].dtype = "float32"; },
       {"graph input 'n' is a number of dtype float32, expected int64, float64 or bool"}},
      // Symbolic shapes.
      {with_number,
       [](IR& ir) { ir.graph_inputs[0].shape = {kDynamicSize}; },
       {"graph input 'x' has a negative size: [-1]",
        "node 'add': input 'x' has shape [2], but is declared with shape [-1]"}},
      {with_number,
       [](IR& ir) { ir.graph_inputs[0] = dynamic("x", {"s0 +"}); },
       {"graph input 'x': the expression 's0 +' ends unexpectedly",
        "node 'add': input 'x' has shape [2], but is declared with shape [s0 +]"}},
      {with_number,
       [](IR& ir) { ir.graph_inputs.push_back(dynamic("y", {"Foo(s0)", "1//0"})); },
       {"graph input 'y': the size 'Foo(s0)' uses the unknown function 'Foo'",
        "graph input 'y': the size '1//0' has no value"}},
      {with_number,
       [](IR& ir) { ir.range_constraints = {{"s0", 4, 2}}; },
       {"range_constraints: empty range for 's0': at least 4 and at most 2"}},
      // Mutations and constant outputs.
      {with_number,
       [](IR& ir) {
         ir.graph_outputs[0].mutates = "x";
         ir.constant_outputs = {{1, Attribute()}};
       },
       {}},
      {with_number,
       [](IR& ir) {
         ir.graph_outputs[0].mutates = "b_count";
         ir.constant_outputs = {{2, Attribute()}};
       },
       {"graph output 'add' is the new value of 'b_count', which is neither a graph input nor a "
        "placeholder",
        "constant_outputs: invalid index 2: there are 2 outputs, and each index must be listed "
        "once, in order"}},
      // Graphs of nodes.
      {with_cond, [](IR&) {}, {}},
      {with_cond,
       [](IR& ir) { ir.nodes[0].graphs.pop_back(); },
       {"node 'cond' (higher_order.cond): wrong number of graphs: 1, expected 2"}},
      {with_cond,
       [](IR& ir) { ir.nodes[0].graphs[1].graph_outputs = {meta("b", {2})}; },
       {"node 'cond', graph 1: graph output 'b' is unknown: no node, graph input or weight has "
        "this name"}},
      {with_cond,
       [](IR& ir) { ir.nodes[0].graphs[0].graph_inputs.push_back(meta("c", {2})); },
       {"node 'cond' (higher_order.cond): the true graph takes 2 values, found 1"}},
      {with_cond,
       [](IR& ir) { ir.nodes[0].graphs[0].graph_outputs.clear(); },
       {"node 'cond' (higher_order.cond): the true graph returns 0 values, expected 1"}},
      {with_number,
       [](IR& ir) { ir.nodes[0].graphs = {IRGraph()}; },
       {"node 'add' (aten.add.Tensor): wrong number of graphs: 1, expected 0"}},
  };
  for (const auto& [graph, make, problems] : changes) {
    IR ir = graph();
    make(ir);
    EXPECT_EQ(find_problems(ir), problems);
  }
}

}  // namespace
}  // namespace torch_ir
