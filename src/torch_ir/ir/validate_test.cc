#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

// relu(linear(x, w)), with a constant that no node uses.
IR well_formed() {
  IR ir = TestGraphBuilder("M")
              .input("x", {1, 4})
              .weight("p_w", "w", {2, 4})
              .weight("c_c", "c", {3}, "int64")
              .op("linear", "aten.linear.default", {"x", "p_w"}, {1, 2})
              .op("relu", "aten.relu.default", {"linear"}, {1, 2})
              .output("relu")
              .build();
  ir.constants.insert("c", at::empty({3}, at::kLong));
  return ir;
}

// A split into two, and a getitem that takes the second and is not used.
IR with_getitem() {
  return TestGraphBuilder("M")
      .input("x", {4})
      .multi_op("split", "aten.split.Tensor", {"x"}, {{2}, {2}}, {{"split_size", 2}})
      .op("getitem", "<built-in function getitem>", {"split_0", "split_1"}, {2}, {{"index", 1}})
      .output("split_0")
      .build();
}

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

TEST(ValidateTest, WellFormedGraphsHaveNoProblems) {
  EXPECT_THAT(find_problems(well_formed()), IsEmpty());
  EXPECT_THAT(find_problems(with_getitem()), IsEmpty());
  EXPECT_THAT(find_problems(IR()), IsEmpty());
  for (const char* name : {"python_package", "masked_linear", "buffer_vs_constant"}) {
    EXPECT_THAT(find_problems(load_ir(std::string("src/torch_ir/ir/testdata/") + name + ".json")),
                IsEmpty())
        << name;
  }
}

TEST(ValidateTest, ErrorListsAllProblemsInALineEach) {
  IR ir = well_formed();
  ir.model_name = "M\r";
  ir.graph_inputs[0].dtype = "float31\n";
  ir.nodes[1].name = "linear";
  EXPECT_THAT(
      [&] { validate_ir(ir); },
      ThrowsMessage<ValidationError>(
          "the IR 'M\\x0d' is not well formed:\n"
          "  graph input 'x' has the unknown dtype 'float31\\x0a'\n"
          "  node 'linear': input 'x' has dtype float32, but is declared with dtype float31\\x0a\n"
          "  node 'linear' has the same name as another node"));
  ir.nodes[1].name = ir.nodes[0].name = std::string(5000, 'a');
  for (const std::string& problem : find_problems(ir)) EXPECT_LE(problem.size(), 1003);
}

// A change to a graph, and the problems that it causes; empty if the graph stays well formed.
struct Change {
  IR (*graph)();
  void (*make)(IR&);
  const char* problem;
};

constexpr Change kChanges[] = {
    {well_formed, [](IR& ir) { ir.nodes[1].name = "linear"; },
     "node 'linear' has the same name as another node"},
    {well_formed, [](IR& ir) { ir.nodes[1].name = "x"; },
     "node 'x' has the same name as a graph input"},
    {with_getitem, [](IR& ir) { ir.nodes[1].outputs[0].name = "split_1"; },
     "node 'getitem': output 'split_1' has the same name as another value"},
    {well_formed, [](IR& ir) { ir.graph_inputs.push_back(ir.graph_inputs[0]); },
     "graph input 'x' has the same name as another graph input"},
    {well_formed, [](IR& ir) { ir.weights.push_back(ir.weights[0]); },
     "weight 'w' has the same name as another weight"},
    {well_formed, [](IR& ir) { ir.weights[0].strides = {1}; },
     "weight 'w' has the strides [1], expected 2 that are not negative"},
    {well_formed, [](IR& ir) { ir.weights[0].strides = {1, -2}; },
     "weight 'w' has the strides [1, -2], expected 2 that are not negative"},
    {well_formed, [](IR& ir) { ir.graph_inputs[0].strides = {1}; },
     "graph input 'x' has the strides [1], expected 2 that are not negative"},
    {well_formed, [](IR& ir) { ir.nodes[0].inputs[1].strides = {1, 2}; },
     "'p_w' has strides, which only weights and inputs of the model have"},
    {well_formed, [](IR& ir) { ir.graph_inputs[0].requires_grad = true; },
     "'x' has requires_grad, which only weights have"},
    {well_formed, [](IR& ir) { ir.weight_name_mapping.insert("x", "w"); },
     "weight_name_mapping: placeholder 'x' has the same name as a graph input"},
    {well_formed, [](IR& ir) { ir.nodes[1].inputs[0].producer_node = "conv"; },
     "node 'relu': input 'linear' names the unknown producer 'conv': no node or graph input has "
     "this name"},
    {well_formed, [](IR& ir) { ir.nodes[1].inputs[0].producer_output_idx = 1; },
     "node 'relu': input 'linear' refers to output 1 of 'linear', which has 1 output "
     "(producer_output_idx counts from 0)"},
    {well_formed, [](IR& ir) { ir.nodes[0].inputs[0].producer_output_idx = -1; },
     "node 'linear': input 'x' refers to output -1 of 'x', which has 1 output "
     "(producer_output_idx counts from 0)"},
    {with_getitem, [](IR& ir) { ir.nodes[1].inputs[0].producer_output_idx = 1; },
     "node 'getitem': input 'split_0' refers to output 1 of 'split', which is named 'split_1'"},
    {well_formed, [](IR& ir) { std::swap(ir.nodes[0], ir.nodes[1]); },
     "node 'relu': input 'linear' is used before node 'linear' makes it"},
    {well_formed, [](IR& ir) { ir.nodes[1].inputs[0] = made_by(meta("relu", {1, 2}), "relu"); },
     "node 'relu': input 'relu' is used before node 'relu' makes it"},
    {well_formed,
     [](IR& ir) {
       std::swap(ir.nodes[0], ir.nodes[1]);
       ir.nodes[0].inputs[0].producer_node.reset();
     },
     "node 'relu': input 'linear' is used before node 'linear' makes it"},
    {well_formed, [](IR& ir) { ir.graph_outputs.push_back(meta("gelu", {1, 2})); },
     "graph output 'gelu' is unknown: no node, graph input or weight has this name"},
    {well_formed, [](IR& ir) { ir.weight_name_mapping.erase("p_w"); },
     "node 'linear': input 'p_w' has no producer_node and is not in weight_name_mapping"},
    {well_formed, [](IR& ir) { ir.weight_name_mapping["p_w"] = "v"; },
     "weight_name_mapping: placeholder 'p_w' stands for the unknown weight 'v'"},
    {well_formed, [](IR& ir) { ir.constants.insert("d", at::empty({1})); },
     "constant 'd' is not among the weights"},
    {well_formed, [](IR& ir) { ir.nodes[1].inputs[0].shape = {2, 1}; },
     "node 'relu': input 'linear' has shape [2, 1], but is declared with shape [1, 2]"},
    {well_formed, [](IR& ir) { ir.nodes[0].inputs[1].shape = {4, 2}; },
     "node 'linear': input 'p_w' has shape [4, 2], but is declared with shape [2, 4]"},
    {well_formed, [](IR& ir) { ir.graph_outputs[0].dtype = "float16"; },
     "graph output 'relu' has dtype float16, but is declared with dtype float32"},
    {well_formed,
     [](IR& ir) {
       ir.weights[1].shape = {-3};
       ir.constants.erase("c");
     },
     "weight 'c' has a negative size: [-3]"},
    {well_formed,
     [](IR& ir) {
       ir.nodes[1].outputs[0].dtype = "float31";
       ir.graph_outputs[0].dtype = "float31";
     },
     "node 'relu': output 'relu' has the unknown dtype 'float31'"},
    {well_formed, [](IR& ir) { ir.nodes[1].inputs.push_back(meta("p_w", {2, 4})); },
     "node 'relu' (aten.relu.default): unexpected input 'p_w': the operator takes no more tensors"},
    {with_getitem, [](IR& ir) { ir.nodes[0].attrs = {}; },
     "node 'split' (aten.split.Tensor): missing argument 'split_size'"},
    {with_getitem, [](IR& ir) { ir.nodes[0].attrs = {{"split_size", "two"}}; },
     "node 'split' (aten.split.Tensor): argument 'split_size' must be of type SymInt, not 'two'"},
    {well_formed, [](IR& ir) { ir.nodes[1].outputs.push_back(meta("relu_1", {1, 2})); },
     "node 'relu' (aten.relu.default) has 2 outputs, but its operator returns 1"},
    {with_getitem, [](IR& ir) { ir.nodes[1].attrs = {{"index", 2}}; },
     "node 'getitem' (<built-in function getitem>) takes output 2 of a node with 2 outputs"},
    {with_getitem, [](IR& ir) { ir.nodes[1].attrs = {}; },
     "node 'getitem' (<built-in function getitem>) needs an integer attribute 'index'"},
    {with_getitem, [](IR& ir) { ir.nodes[1].outputs[0].shape = {3}; },
     "node 'getitem': output 'getitem' has shape [3], but is declared with shape [2]"},
    {with_getitem, [](IR& ir) { ir.nodes[1].outputs.push_back(meta("getitem_1", {2})); },
     "node 'getitem' (<built-in function getitem>) has 2 outputs, expected one"},
    {well_formed, [](IR& ir) { ir.constants["c"] = at::empty({2}, at::kLong); },
     "constant 'c' has shape [2], but is declared with shape [3] among the weights"},
    {well_formed, [](IR& ir) { ir.constants["c"] = at::empty({3}, at::kInt); },
     "constant 'c' has dtype int32, but is declared with dtype int64 among the weights"},
    {well_formed, [](IR& ir) { ir.constants["c"] = at::Tensor(); }, "constant 'c' is undefined"},
    // Changes that keep the graph well formed.
    {well_formed,
     [](IR& ir) {
       ir.graph_outputs = {meta("x", {1, 4}), meta("p_w", {2, 4}),
                           made_by(meta("linear", {1, 2}), "linear")};
     },
     ""},
    {well_formed,
     [](IR& ir) {
       ir.nodes[0].inputs[0].producer_node.reset();
       ir.nodes[1].inputs[0].producer_node.reset();
     },
     ""},
    {well_formed,
     [](IR& ir) {
       ir.nodes[0].inputs[1].name = "w";
       ir.graph_outputs.push_back(meta("c", {3}, "int64"));
     },
     ""},
    {well_formed,
     [](IR& ir) {
       ir.nodes[1].op_type = "my_library.relu.default";
       ir.nodes[1].attrs = {{"anything", "goes"}};
     },
     ""},
    // The additions of version 2.
    {with_number, [](IR&) {}, ""},
    // Numbers between nodes.
    {with_number, [](IR& ir) { ir.nodes[0].attrs = {{"other", ValueRef{"m"}}}; },
     "node 'add': attribute 'other' refers to 'm', which is not a value of the graph"},
    {with_number, [](IR& ir) { ir.nodes[0].attrs = {{"other", ValueRef{"x"}}}; },
     "node 'add': attribute 'other' refers to 'x', which is a tensor, not a number"},
    {with_number, [](IR& ir) { ir.nodes[0].attrs = {{"other", ValueRef{"add"}}}; },
     "node 'add': attribute 'other' refers to 'add', which a later node makes"},
    {with_number, [](IR& ir) { ir.graph_inputs[1].dtype = "float32"; },
     "graph input 'n' is a number of dtype float32, expected int64, float64 or bool"},
    // Symbolic shapes.
    {with_number, [](IR& ir) { ir.graph_inputs[0].shape = {kDynamicSize}; },
     "graph input 'x' has a negative size: [-1]; "
     "node 'add': input 'x' has shape [2], but is declared with shape [-1]"},
    {with_number, [](IR& ir) { ir.graph_inputs[0] = dynamic("x", {"s0 +"}); },
     "graph input 'x': the expression 's0 +' ends unexpectedly; "
     "node 'add': input 'x' has shape [2], but is declared with shape [s0 +]"},
    {with_number, [](IR& ir) { ir.graph_inputs.push_back(dynamic("y", {"Foo(s0)", "1//0"})); },
     "graph input 'y': the size 'Foo(s0)' uses the unknown function 'Foo'; "
     "graph input 'y': the size '1//0' has no value"},
    {with_number, [](IR& ir) { ir.range_constraints = {{"s0", 4, 2}}; },
     "range_constraints: empty range for 's0': at least 4 and at most 2"},
    // Mutations and constant outputs.
    {with_number,
     [](IR& ir) {
       ir.graph_outputs[0].mutates = "x";
       ir.constant_outputs = {{1, Attribute()}};
     },
     ""},
    {with_number,
     [](IR& ir) {
       ir.graph_outputs[0].mutates = "b_count";
       ir.constant_outputs = {{2, Attribute()}};
     },
     "graph output 'add' is the new value of 'b_count', which is neither a graph input nor a "
     "placeholder; "
     "constant_outputs: invalid index 2: there are 2 outputs, and each index must be listed "
     "once, in order"},
    // Graphs of nodes.
    {with_cond, [](IR&) {}, ""},
    {with_cond, [](IR& ir) { ir.nodes[0].graphs.pop_back(); },
     "node 'cond' (higher_order.cond): wrong number of graphs: 1, expected 2"},
    {with_cond, [](IR& ir) { ir.nodes[0].graphs[1].graph_outputs = {meta("b", {2})}; },
     "node 'cond', graph 1: graph output 'b' is unknown: no node, graph input or weight has this "
     "name"},
    {with_cond, [](IR& ir) { ir.nodes[0].graphs[0].graph_inputs.push_back(meta("c", {2})); },
     "node 'cond' (higher_order.cond): the true graph takes 2 values, found 1"},
    {with_cond, [](IR& ir) { ir.nodes[0].graphs[0].graph_outputs.clear(); },
     "node 'cond' (higher_order.cond): the true graph returns 0 values, expected 1"},
    {with_number, [](IR& ir) { ir.nodes[0].graphs = {IRGraph()}; },
     "node 'add' (aten.add.Tensor): wrong number of graphs: 1, expected 0"},
};

TEST(ValidateTest, FindsTheProblems) {
  for (const auto& [graph, make, problem] : kChanges) {
    IR ir = graph();
    make(ir);
    const std::vector<std::string> problems = find_problems(ir);
    EXPECT_EQ(fmt::format("{}", fmt::join(problems, "; ")), problem);
  }
}

TEST(ValidateTest, MissingNames) {
  IR ir = with_getitem();
  ir.nodes[1].name = "";
  ir.nodes[1].outputs[0].name = "";
  ir.nodes[0].op_type = "";
  EXPECT_THAT(find_problems(ir), ElementsAre("node 'split' has no op_type", "node 1 has no name",
                                             "node '': output '' has no name"));
}

TEST(ValidateTest, TheStructureIsWithoutOperators) {
  IR ir = well_formed();
  ir.nodes[1].attrs = {{"unknown", 1}};
  EXPECT_FALSE(find_problems(ir).empty());
  EXPECT_THAT(find_problems(ir, GraphChecks::kStructure), IsEmpty());
  ir.graph_inputs[0].dtype = "float31";
  EXPECT_FALSE(find_problems(ir, GraphChecks::kStructure).empty());
}

TEST(ValidateTest, TiedWeightsThatDiffer) {
  IR ir = well_formed();
  ir.tied_weights = {{"c", "other name"}};
  EXPECT_THAT(find_problems(ir), IsEmpty());
  ir.weights.push_back(ir.weights[1]);
  ir.weights.back().name = "d";
  ir.tied_weights = {{"c", "d"}};
  EXPECT_THAT(find_problems(ir), IsEmpty());
  ir.weights.back().shape = {4};
  EXPECT_THAT(find_problems(ir),
              ElementsAre("weight 'd' has shape [4], but is declared with shape [3] as 'c', with "
                          "which it is tied"));
}

TEST(ValidateTest, StateThatNobodyGives) {
  IR ir = well_formed();
  ir.state = {ir.weight_name_mapping.begin()->key(), ir.graph_inputs[0].name};
  const Program program = resolve(ir);
  EXPECT_EQ(program.outputs.size(), ir.graph_outputs.size() + 2);
  EXPECT_EQ(to_ir(program).state, ir.state);
  EXPECT_EQ(to_ir(program).graph_outputs, ir.graph_outputs);
  ir.state = {ir.state[0], ir.state[0], ir.nodes[0].name, "nothing"};
  EXPECT_THAT(find_problems(ir),
              ElementsAre(HasSubstr("is listed twice"),
                          HasSubstr("is neither a graph input nor a placeholder"),
                          "state 'nothing' is neither a graph input nor a placeholder"));
}

TEST(ValidateTest, TensorsThatNobodyCanMake) {
  IR ir = well_formed();
  ir.weights[1].shape = {1, int64_t{1} << 32, int64_t{1} << 32};
  ir.constants.erase("c");
  EXPECT_THAT(find_problems(ir),
              ElementsAre("weight 'c' has shape [1, 4294967296, 4294967296], which needs more than "
                          "140737488355328 bytes"));
  ir.weights[1].shape = {int64_t{1} << 45};
  EXPECT_THAT(find_problems(ir), ElementsAre("weight 'c' has shape [35184372088832], which needs "
                                             "more than 140737488355328 bytes"));
  ir.weights[1].shape = {int64_t{1} << 44};
  EXPECT_THAT(find_problems(ir), IsEmpty());
  ir.weights[1].shape.assign(65, 1);
  EXPECT_THAT(find_problems(ir),
              ElementsAre("weight 'c' has 65 dimensions; a tensor can have at most 64"));
}

}  // namespace
}  // namespace torch_ir
