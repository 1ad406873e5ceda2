#include "torch_ir/ir/validate.h"

#include <ATen/ops/empty.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/testing/json_test_graphs.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

// relu(linear(x, w)), with a constant that no node uses.
IR well_formed() {
  IR ir;
  ir.model_name = "M";
  ir.graph_inputs = {meta("x", {1, 4})};
  ir.graph_outputs = {meta("relu", {1, 2})};
  ir.weights = {meta("w", {2, 4}), meta("c", {3}, "int64")};
  ir.weight_name_mapping.insert("p_w", "w");
  ir.weight_name_mapping.insert("c_c", "c");
  ir.constants.insert("c", at::empty({3}, at::kLong));
  ir.nodes = {
      node("linear", "aten.linear.default", {made_by(meta("x", {1, 4}), "x"), meta("p_w", {2, 4})},
           {meta("linear", {1, 2})}),
      node("relu", "aten.relu.default", {made_by(meta("linear", {1, 2}), "linear")},
           {meta("relu", {1, 2})})};
  return ir;
}

// A split into two, and a getitem that takes the second.
IR with_getitem() {
  IR ir;
  ir.graph_inputs = {meta("x", {4})};
  ir.graph_outputs = {meta("getitem", {2})};
  ir.nodes = {
      node("split", "aten.split.Tensor", {made_by(meta("x", {4}), "x")},
           {meta("split_0", {2}), meta("split_1", {2})}),
      node("getitem", "<built-in function getitem>",
           {made_by(meta("split_0", {2}), "split", 0), made_by(meta("split_1", {2}), "split", 1)},
           {meta("getitem", {2})})};
  ir.nodes[0].attrs = {{"split_size", 2}};
  ir.nodes[1].attrs = {{"index", 1}};
  return ir;
}

TEST(ValidateTest, WellFormedGraphsHaveNoProblems) {
  EXPECT_THAT(find_problems(well_formed()), IsEmpty());
  EXPECT_THAT(find_problems(with_getitem()), IsEmpty());
  EXPECT_THAT(find_problems(IR()), IsEmpty());
  EXPECT_NO_THROW(validate_ir(well_formed()));
}

TEST(ValidateTest, GraphsOfThePythonPackageHaveNoProblems) {
  for (const char* name : {"python_package", "masked_linear", "buffer_vs_constant"}) {
    EXPECT_THAT(find_problems(load_ir(std::string("src/torch_ir/ir/testdata/") + name + ".json")),
                IsEmpty())
        << name;
  }
}

TEST(ValidateTest, ErrorListsAllProblems) {
  IR ir = well_formed();
  ir.graph_inputs[0].dtype = "float31";
  ir.nodes[1].name = "linear";
  EXPECT_THAT([&] { validate_ir(ir); },
              ThrowsMessage<ValidationError>(
                  "the IR 'M' is not well formed:\n"
                  "  graph input 'x' has the unknown dtype 'float31'\n"
                  "  node 'linear': input 'x' has dtype float32, but is made with dtype float31\n"
                  "  node 'linear' has the name of another node"));
}

TEST(ValidateTest, EveryProblemIsOneLine) {
  IR ir = well_formed();
  ir.model_name = "M\r";
  ir.nodes[0].name = "a\nb";
  ir.nodes[1].name = "a\nb";
  EXPECT_THAT([&] { validate_ir(ir); },
              ThrowsMessage<ValidationError>(
                  AllOf(StartsWith("the IR 'M\\x0d' is not well formed:\n"),
                        EndsWith("node 'a\\x0ab' has the name of another node"))));
  ir.nodes[1].name = ir.nodes[0].name = std::string(5000, 'a');
  for (const std::string& problem : find_problems(ir)) EXPECT_LE(problem.size(), 1003);
}

// --- Names ---

TEST(ValidateTest, DuplicateNodeName) {
  IR ir = well_formed();
  ir.nodes[1].name = "linear";
  EXPECT_THAT(find_problems(ir), ElementsAre("node 'linear' has the name of another node"));
}

TEST(ValidateTest, NodeWithTheNameOfAGraphInput) {
  IR ir = well_formed();
  ir.nodes[1].name = "x";
  EXPECT_THAT(find_problems(ir), ElementsAre("node 'x' has the name of a graph input"));
}

TEST(ValidateTest, DuplicateOutputName) {
  IR ir = with_getitem();
  ir.nodes[1].outputs[0].name = "split_1";
  ir.graph_outputs.clear();
  EXPECT_THAT(find_problems(ir),
              ElementsAre("node 'getitem': output 'split_1' has the name of another value"));
}

TEST(ValidateTest, DuplicateGraphInput) {
  IR ir = well_formed();
  ir.graph_inputs.push_back(ir.graph_inputs[0]);
  EXPECT_THAT(find_problems(ir),
              ElementsAre("graph input 'x' has the name of another graph input"));
}

TEST(ValidateTest, DuplicateWeight) {
  IR ir = well_formed();
  ir.weights.push_back(ir.weights[0]);
  EXPECT_THAT(find_problems(ir), ElementsAre("weight 'w' has the name of another weight"));
}

TEST(ValidateTest, PlaceholderWithTheNameOfAGraphInput) {
  IR ir = well_formed();
  ir.weight_name_mapping.insert("x", "w");
  EXPECT_THAT(find_problems(ir),
              ElementsAre("weight_name_mapping: placeholder 'x' has the name of a graph input"));
}

TEST(ValidateTest, MissingNames) {
  IR ir = with_getitem();
  ir.nodes[1].name = "";
  ir.nodes[1].outputs[0].name = "";
  ir.nodes[0].op_type = "";
  ir.graph_outputs.clear();
  EXPECT_THAT(find_problems(ir), ElementsAre("node 'split' has no op_type", "node 1 has no name",
                                             "node '': output '' has no name"));
}

// --- Producers ---

TEST(ValidateTest, UnknownProducer) {
  IR ir = well_formed();
  ir.nodes[1].inputs[0].producer_node = "conv";
  EXPECT_THAT(find_problems(ir), ElementsAre("node 'relu': input 'linear' names the producer "
                                             "'conv', which is neither a node nor a graph input"));
}

TEST(ValidateTest, ProducerIndexBeyondTheOutputs) {
  IR ir = well_formed();
  ir.nodes[1].inputs[0].producer_output_idx = 1;
  EXPECT_THAT(find_problems(ir),
              ElementsAre("node 'relu': input 'linear' is output 1 of 'linear', which has 1 "
                          "(producer_output_idx counts from 0)"));
}

TEST(ValidateTest, NegativeProducerIndex) {
  IR ir = well_formed();
  ir.nodes[0].inputs[0].producer_output_idx = -1;
  EXPECT_THAT(find_problems(ir),
              ElementsAre("node 'linear': input 'x' is output -1 of 'x', which has 1 "
                          "(producer_output_idx counts from 0)"));
}

TEST(ValidateTest, ProducerIndexOfAnotherOutput) {
  IR ir = with_getitem();
  ir.nodes[1].inputs[0].producer_output_idx = 1;
  EXPECT_THAT(find_problems(ir), ElementsAre("node 'getitem': input 'split_0' is output 1 of "
                                             "'split', which is called 'split_1'"));
}

TEST(ValidateTest, UseBeforeDefinition) {
  IR ir = well_formed();
  std::swap(ir.nodes[0], ir.nodes[1]);
  EXPECT_THAT(find_problems(ir),
              ElementsAre("node 'relu': input 'linear' is used before node 'linear' makes it"));
}

TEST(ValidateTest, UseOfANodesOwnOutput) {
  IR ir = well_formed();
  ir.nodes[1].inputs[0] = made_by(meta("relu", {1, 2}), "relu");
  EXPECT_THAT(find_problems(ir),
              ElementsAre("node 'relu': input 'relu' is used before node 'relu' makes it"));
}

TEST(ValidateTest, UseBeforeDefinitionWithoutProducer) {
  IR ir = well_formed();
  std::swap(ir.nodes[0], ir.nodes[1]);
  ir.nodes[0].inputs[0].producer_node.reset();
  EXPECT_THAT(find_problems(ir),
              ElementsAre("node 'relu': input 'linear' is used before node 'linear' makes it"));
}

TEST(ValidateTest, OutputThatNobodyMakes) {
  IR ir = well_formed();
  ir.graph_outputs.push_back(meta("gelu", {1, 2}));
  EXPECT_THAT(find_problems(ir), ElementsAre("graph output 'gelu' is made by no node, and is "
                                             "neither a graph input nor a weight"));
}

TEST(ValidateTest, OutputsMayBeInputsAndWeights) {
  IR ir = well_formed();
  ir.graph_outputs = {meta("x", {1, 4}), meta("p_w", {2, 4}),
                      made_by(meta("linear", {1, 2}), "linear")};
  EXPECT_THAT(find_problems(ir), IsEmpty());
}

TEST(ValidateTest, InputsMayLeaveOutTheirProducer) {
  IR ir = well_formed();
  ir.nodes[0].inputs[0].producer_node.reset();
  ir.nodes[1].inputs[0].producer_node.reset();
  EXPECT_THAT(find_problems(ir), IsEmpty());
}

// --- Weights ---

TEST(ValidateTest, NodesMayNameWeightsAsTheStateDictDoes) {
  IR ir = well_formed();
  ir.nodes[0].inputs[1].name = "w";
  ir.graph_outputs.push_back(meta("c", {3}, "int64"));
  EXPECT_THAT(find_problems(ir), IsEmpty());
}

TEST(ValidateTest, PlaceholderWithoutMapping) {
  IR ir = well_formed();
  ir.weight_name_mapping.erase("p_w");
  EXPECT_THAT(find_problems(ir), ElementsAre("node 'linear': input 'p_w' has no producer_node and "
                                             "is not in weight_name_mapping"));
}

TEST(ValidateTest, MappingToAnUnknownWeight) {
  IR ir = well_formed();
  ir.weight_name_mapping["p_w"] = "v";
  EXPECT_THAT(find_problems(ir), ElementsAre("weight_name_mapping: placeholder 'p_w' stands for "
                                             "'v', which is not among the weights"));
}

TEST(ValidateTest, ConstantThatIsNoWeight) {
  IR ir = well_formed();
  ir.constants.insert("d", at::empty({1}));
  EXPECT_THAT(find_problems(ir), ElementsAre("constant 'd' is not among the weights"));
}

TEST(ValidateTest, ConstantOfAnotherShapeOrDtype) {
  IR ir = well_formed();
  ir.constants["c"] = at::empty({2}, at::kLong);
  EXPECT_THAT(find_problems(ir), ElementsAre("constant 'c' has shape [2], but is made with shape "
                                             "[3] among the weights"));
  ir.constants["c"] = at::empty({3}, at::kInt);
  EXPECT_THAT(find_problems(ir), ElementsAre("constant 'c' has dtype int32, but is made with dtype "
                                             "int64 among the weights"));
  ir.constants["c"] = at::Tensor();
  EXPECT_THAT(find_problems(ir), ElementsAre("constant 'c' is undefined"));
}

// --- Shapes and dtypes ---

TEST(ValidateTest, ShapesThatDisagree) {
  IR ir = well_formed();
  ir.nodes[1].inputs[0].shape = {2, 1};
  EXPECT_THAT(find_problems(ir), ElementsAre("node 'relu': input 'linear' has shape [2, 1], but is "
                                             "made with shape [1, 2]"));
}

TEST(ValidateTest, ShapesOfAWeightThatDisagree) {
  IR ir = well_formed();
  ir.nodes[0].inputs[1].shape = {4, 2};
  EXPECT_THAT(find_problems(ir), ElementsAre("node 'linear': input 'p_w' has shape [4, 2], but is "
                                             "made with shape [2, 4]"));
}

TEST(ValidateTest, DtypesThatDisagree) {
  IR ir = well_formed();
  ir.graph_outputs[0].dtype = "float16";
  EXPECT_THAT(find_problems(ir), ElementsAre("graph output 'relu' has dtype float16, but is made "
                                             "with dtype float32"));
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
  EXPECT_THAT(find_problems(ir), ElementsAre("weight 'c' has 65 dimensions, more than the 64 that "
                                             "a tensor can have"));
}

TEST(ValidateTest, NegativeSize) {
  IR ir = well_formed();
  ir.weights[1].shape = {-3};
  ir.constants.erase("c");
  EXPECT_THAT(find_problems(ir), ElementsAre("weight 'c' has a negative size: [-3]"));
}

TEST(ValidateTest, UnknownDtype) {
  IR ir = well_formed();
  ir.nodes[1].outputs[0].dtype = "float31";
  ir.graph_outputs[0].dtype = "float31";
  EXPECT_THAT(find_problems(ir),
              ElementsAre("node 'relu': output 'relu' has the unknown dtype 'float31'"));
}

// --- Operators ---

TEST(ValidateTest, SurplusInput) {
  IR ir = well_formed();
  ir.nodes[1].inputs.push_back(meta("p_w", {2, 4}));
  EXPECT_THAT(find_problems(ir),
              ElementsAre("node 'relu' (aten.relu.default): input 'p_w' is left over: the "
                          "operator's tensor arguments are all taken"));
}

TEST(ValidateTest, MissingArgument) {
  IR ir = with_getitem();
  ir.nodes[0].attrs = {};
  EXPECT_THAT(find_problems(ir),
              ElementsAre("node 'split' (aten.split.Tensor): argument 'split_size' is missing"));
}

TEST(ValidateTest, AttributeOfTheWrongType) {
  IR ir = with_getitem();
  ir.nodes[0].attrs = {{"split_size", "two"}};
  EXPECT_THAT(find_problems(ir),
              ElementsAre("node 'split' (aten.split.Tensor): argument 'split_size' must be of type "
                          "SymInt, not 'two'"));
}

TEST(ValidateTest, TooManyOutputs) {
  IR ir = well_formed();
  ir.nodes[1].outputs.push_back(meta("relu_1", {1, 2}));
  EXPECT_THAT(find_problems(ir), ElementsAre("node 'relu' (aten.relu.default) has 2 outputs, but "
                                             "its operator makes 1"));
}

TEST(ValidateTest, UnknownOperatorsAreNotChecked) {
  IR ir = well_formed();
  ir.nodes[1].op_type = "my_library.relu.default";
  ir.nodes[1].attrs = {{"anything", "goes"}};
  EXPECT_THAT(find_problems(ir), IsEmpty());
}

TEST(ValidateTest, GetitemBeyondItsInputs) {
  IR ir = with_getitem();
  ir.nodes[1].attrs = {{"index", 2}};
  EXPECT_THAT(find_problems(ir),
              ElementsAre("node 'getitem' (<built-in function getitem>) takes item 2 of 2"));
}

TEST(ValidateTest, GetitemWithoutIndex) {
  IR ir = with_getitem();
  ir.nodes[1].attrs = {};
  EXPECT_THAT(find_problems(ir), ElementsAre("node 'getitem' (<built-in function getitem>) needs "
                                             "an integer attribute 'index'"));
}

TEST(ValidateTest, GetitemOfAnotherShape) {
  IR ir = with_getitem();
  ir.nodes[1].outputs[0].shape = {3};
  ir.graph_outputs[0].shape = {3};
  EXPECT_THAT(find_problems(ir), ElementsAre("node 'getitem': output 'getitem' has shape [3], but "
                                             "is made with shape [2]"));
}

TEST(ValidateTest, GetitemWithSeveralOutputs) {
  IR ir = with_getitem();
  ir.nodes[1].outputs.push_back(meta("getitem_1", {2}));
  EXPECT_THAT(find_problems(ir), ElementsAre("node 'getitem' (<built-in function getitem>) has 2 "
                                             "outputs instead of one"));
}

}  // namespace
}  // namespace torch_ir
