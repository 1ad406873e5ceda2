#include "torch_ir/ir/binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <sstream>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

const c10::FunctionSchema& schema_of(const std::string& op_type) {
  return find_operator(op_type)->schema();
}

TensorMeta input(const std::string& name) { return meta(name, {2}); }

// The number of the value that is called `name`.
ValueId id(char name) { return static_cast<ValueId>(name); }

// A node that calls `op_type` with these arguments only.
OpNode encode(const std::string& op_type,
              std::vector<std::pair<std::string, ArgumentValue>> arguments) {
  const c10::FunctionSchema& schema = schema_of(op_type);
  GivenArguments by_position(schema.arguments().size());
  for (auto& [name, value] : arguments) {
    by_position.at(static_cast<size_t>(*schema.argumentIndexWithName(name))) = std::move(value);
  }
  OpNode encoded = node("node", op_type, {}, {});
  const auto input_of = [](ValueId value) {
    return input(std::string(1, static_cast<char>(value)));
  };
  encode_arguments(schema, by_position, input_of, encoded);
  return encoded;
}

// Binds `node`, whose inputs are numbered in their order.
std::vector<Argument> bind(const OpNode& node) {
  std::vector<ValueId> inputs(node.inputs.size());
  std::iota(inputs.begin(), inputs.end(), 0);
  return OperatorBinder(schema_of(node.op_type)).bind(node, inputs);
}

// "self=x indices=[None, i] accumulate=True"; arguments at their defaults are left out.
std::string bound_text(const OpNode& node) {
  std::ostringstream text;
  for (const Argument& argument : bind(node)) {
    text << (text.tellp() > 0 ? " " : "") << argument.name << '=';
    if (const auto* tensor = std::get_if<ValueId>(&argument.value)) {
      text << node.inputs[*tensor].name;
    } else if (const auto* list = std::get_if<ValueList>(&argument.value)) {
      text << '[';
      for (const auto& value : *list) text << (value ? node.inputs[*value].name : "None") << ',';
      text << ']';
    } else {
      text << std::get<Attribute>(argument.value);
    }
  }
  return text.str();
}

OpNode node_of(const std::string& op_type, std::vector<TensorMeta> inputs,
               AttributeMap attrs = {}) {
  return node("node", op_type, std::move(inputs), {}, std::move(attrs));
}

// Expects an error with the node and `message`.
void expect_not_bound(const OpNode& node, const std::string& message) {
  EXPECT_THAT([&] { bind(node); }, ::testing::ThrowsMessage<ValidationError>(
                                       "node 'node' (" + node.op_type + "): " + message));
}

TEST(OpTypeTest, NamesAnOperatorAsPythonDoes) {
  EXPECT_EQ(op_type_name({"aten::conv2d", ""}), "aten.conv2d.default");
  EXPECT_EQ(op_type_name({"aten::add", "Tensor"}), "aten.add.Tensor");
  EXPECT_EQ(parse_op_type("aten.conv2d.default"), c10::OperatorName("aten::conv2d", ""));
  EXPECT_EQ(parse_op_type("aten.add.Tensor"), c10::OperatorName("aten::add", "Tensor"));
  for (const char* text : {"", "aten", "aten.conv2d", ".conv2d.default", "aten..default",
                           "aten.conv2d.", "<built-in function getitem>"}) {
    EXPECT_EQ(parse_op_type(text), std::nullopt) << text;
    EXPECT_FALSE(find_operator(text)) << text;
  }
}

TEST(BindingTest, RoundTrips) {
  const struct {
    OpNode node;
    const char* expected;
  } cases[] = {
      {encode("aten.linear.default", {{"input", id('x')}, {"weight", id('w')}}),
       "input=x weight=w"},
      {encode("aten.conv2d.default", {{"input", id('x')},
                                      {"weight", id('w')},
                                      {"bias", id('b')},
                                      {"stride", Attribute::list({2, 2})}}),
       "input=x weight=w bias=b stride=[2, 2]"},
      {encode("aten.div.Tensor", {{"self", id('x')}, {"other", Attribute(4.0)}}),
       "self=x other=4.0"},
      {encode("aten.cat.default",
              {{"tensors", ValueList{id('a'), id('b')}}, {"dim", Attribute(1)}}),
       "tensors=[a,b,] dim=1"},
      {encode("aten.index.Tensor",
              {{"self", id('x')}, {"indices", ValueList{std::nullopt, id('i')}}}),
       "self=x indices=[None,i,]"},
      {encode("aten.index_put.default", {{"self", id('x')},
                                         {"indices", ValueList{id('i'), std::nullopt, id('j')}},
                                         {"values", id('v')},
                                         {"accumulate", Attribute(true)}}),
       "self=x indices=[i,None,j,] values=v accumulate=True"},
      {encode("aten.stack.default", {{"tensors", ValueList{}}}), "tensors=[]"},
  };
  for (const auto& [node, expected] : cases) EXPECT_EQ(bound_text(node), expected);
}

TEST(BindingTest, NamesTheArgumentOnlyBehindAGap) {
  const OpNode norm =
      encode("aten.layer_norm.default",
             {{"input", id('x')}, {"normalized_shape", Attribute::list({2})}, {"bias", id('b')}});
  EXPECT_EQ(norm.inputs[0].arg, "");
  EXPECT_EQ(norm.inputs[1].arg, "bias");
  EXPECT_EQ(bound_text(norm), "input=x normalized_shape=[2] bias=b");

  const OpNode clamp = encode("aten.clamp.Tensor", {{"self", id('x')}, {"max", id('m')}});
  EXPECT_EQ(bound_text(clamp), "self=x max=m");

  const OpNode none =
      encode("aten.clamp.Tensor", {{"self", id('x')}, {"min", Attribute()}, {"max", id('m')}});
  EXPECT_EQ(none, clamp);
}

TEST(BindingTest, WritesListsAsThePythonPackageDoes) {
  const OpNode index = encode("aten.index.Tensor",
                              {{"self", id('x')}, {"indices", ValueList{std::nullopt, id('i')}}});
  const AttributeMap expected = {
      {"_tensor_list_sizes", Attribute::list({1})},
      {"_tensor_list_none_masks", Attribute::list({Attribute::list({true, false})})}};
  EXPECT_EQ(index.attrs, expected);

  const OpNode cat =
      encode("aten.cat.default", {{"tensors", ValueList{id('a'), id('b')}}, {"dim", Attribute(1)}});
  const AttributeMap cat_expected = {{"_tensor_list_sizes", Attribute::list({2})}, {"dim", 1}};
  EXPECT_EQ(cat.attrs, cat_expected);
}

TEST(BindingTest, RefusesWhatDoesNotFitTheSchema) {
  expect_not_bound(node_of("aten.relu.default", {}), "missing argument 'self'");
  expect_not_bound(node_of("aten.relu.default", {input("x"), input("y")}),
                   "unexpected input 'y': the operator takes no more tensors");
  expect_not_bound(node_of("aten.relu.default", {input("x")}, {{"inplace", true}}),
                   "unexpected attribute 'inplace': the operator has no such argument");
  expect_not_bound(node_of("aten.transpose.int", {input("x")}, {{"dim0", 1}}),
                   "missing argument 'dim1'");
  expect_not_bound(node_of("aten.cat.default", {input("x")}, {{"dim", 1}}),
                   "missing argument 'tensors'");

  const auto cat = [](Attribute sizes) {
    return node_of("aten.cat.default", {input("a"), input("b")},
                   {{"_tensor_list_sizes", std::move(sizes)}});
  };
  expect_not_bound(cat(Attribute::list({3})),
                   "argument 'tensors' is a list of 3 tensors, but only 2 inputs are left");
  expect_not_bound(cat(Attribute::list({1})),
                   "unexpected input 'b': the operator takes no more tensors");
  expect_not_bound(cat(Attribute::list({2, 1})),
                   "'_tensor_list_sizes' has more counts than the operator has lists of tensors");
  expect_not_bound(cat(Attribute::list({-1})),
                   "attribute '_tensor_list_sizes' must be a list of counts");
  const Attribute mask = Attribute::list({Attribute::list({true, false, false})});
  expect_not_bound(
      node_of("aten.index.Tensor", {input("x"), input("i")},
              {{"_tensor_list_sizes", Attribute::list({1})}, {"_tensor_list_none_masks", mask}}),
      "the mask of argument 'indices' in '_tensor_list_none_masks' has room for 2 tensors, not 1");

  TensorMeta bias = input("b");
  bias.arg = "bais";
  expect_not_bound(node_of("aten.linear.default", {input("x"), input("w"), bias}),
                   "input 'b' names the argument 'bais', which the operator does not have");
  bias.arg = "bias";
  expect_not_bound(node_of("aten.linear.default", {input("x"), input("w"), bias, bias}),
                   "two inputs name the same argument");
}

// --- Files of the Python package, which do not name arguments ---

TensorMeta made(const std::string& name) { return made_by(input(name), name); }

OpNode layer_norm(std::vector<TensorMeta> inputs) {
  return node_of("aten.layer_norm.default", std::move(inputs),
                 {{"normalized_shape", Attribute::list({2})}});
}

TEST(BindingTest, AllOrNoneOfTheOptionalTensorsNeedNoNames) {
  EXPECT_EQ(bound_text(layer_norm({made("x"), input("a"), input("b")})),
            "input=x normalized_shape=[2] weight=a bias=b");
  EXPECT_EQ(bound_text(layer_norm({made("x")})), "input=x normalized_shape=[2]");
  // Two optional tensors come before two required ones.
  EXPECT_EQ(bound_text(node_of("aten._native_batch_norm_legit_no_training.default",
                               {made("x"), input("b_mean"), input("b_var")},
                               {{"momentum", 0.1}, {"eps", 1e-5}})),
            "input=x running_mean=b_mean running_var=b_var momentum=0.1 eps=1e-05");
}

TEST(BindingTest, WeightsAreTheArgumentsTheyAreNamedAfter) {
  EXPECT_EQ(bound_text(layer_norm({made("x"), input("p_norm_bias")})),
            "input=x normalized_shape=[2] bias=p_norm_bias");
  EXPECT_EQ(bound_text(layer_norm({made("x"), input("p_norm_weight")})),
            "input=x normalized_shape=[2] weight=p_norm_weight");
  EXPECT_EQ(bound_text(node_of(
                "aten.batch_norm.default",
                {made("x"), input("b_bn_running_mean"), input("b_bn_running_var")},
                {{"training", false}, {"momentum", 0.1}, {"eps", 1e-5}, {"cudnn_enabled", false}})),
            "input=x running_mean=b_bn_running_mean running_var=b_bn_running_var training=False "
            "momentum=0.1 eps=1e-05 cudnn_enabled=False");
}

TEST(BindingTest, WhatCanNotBeKnownIsAnError) {
  const std::string advice =
      " only 1 is given; name the argument of each input with the key \"arg\"";
  expect_not_bound(node_of("aten.clamp.Tensor", {made("x"), made("t")}),
                   "ambiguous inputs: of the optional arguments 'min' and 'max'" + advice);
  expect_not_bound(layer_norm({made("x"), input("p_gamma")}),
                   "ambiguous inputs: of the optional arguments 'weight' and 'bias'" + advice);
}

}  // namespace
}  // namespace torch_ir
