#include "torch_ir/ir/binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using ::testing::StrEq;

const c10::FunctionSchema& schema_of(const std::string& op_type) {
  return find_operator(op_type)->schema();
}

TensorMeta value_meta(const std::string& name) {
  return {.name = name, .shape = {2}, .dtype = "float32", .producer_node = {}, .arg = {}};
}

using List = std::vector<std::optional<TensorMeta>>;

// A node that calls `op_type` with these arguments only.
OpNode encode(const std::string& op_type,
              std::vector<std::pair<std::string, CallArgument>> arguments) {
  const c10::FunctionSchema& schema = schema_of(op_type);
  std::vector<CallArgument> by_position(schema.arguments().size());
  for (auto& [name, value] : arguments) {
    by_position.at(static_cast<size_t>(*schema.argumentIndexWithName(name))) = std::move(value);
  }
  OpNode node;
  node.name = "node";
  node.op_type = op_type;
  encode_arguments(schema, std::move(by_position), node);
  return node;
}

// "self=x indices=[None, i] accumulate=True"; arguments at their defaults are left out.
std::string bound_text(const OpNode& node) {
  const c10::FunctionSchema& schema = schema_of(node.op_type);
  std::ostringstream text;
  const std::vector<BoundArgument> bound = OperatorBinder(schema).bind(node);
  for (size_t i = 0; i < bound.size(); ++i) {
    if (std::holds_alternative<std::monostate>(bound[i])) continue;
    text << (text.tellp() > 0 ? " " : "") << schema.arguments()[i].name() << '=';
    if (const auto* tensor = std::get_if<size_t>(&bound[i])) {
      text << node.inputs[*tensor].name;
    } else if (const auto* list = std::get_if<std::vector<std::optional<size_t>>>(&bound[i])) {
      text << '[';
      for (const auto& input : *list) {
        text << (input ? node.inputs[*input].name : "None") << ',';
      }
      text << ']';
    } else {
      text << *std::get<const Attribute*>(bound[i]);
    }
  }
  return text.str();
}

std::string error_of(const OpNode& node) {
  try {
    OperatorBinder(schema_of(node.op_type)).bind(node);
  } catch (const ValidationError& error) {
    return error.what();
  }
  return "no error";
}

OpNode node_of(const std::string& op_type, std::vector<TensorMeta> inputs,
               AttributeMap attrs = {}) {
  return {.name = "node",
          .op_type = op_type,
          .inputs = std::move(inputs),
          .outputs = {},
          .attrs = std::move(attrs)};
}

TEST(OpTypeTest, NamesAnOperatorAsPythonDoes) {
  EXPECT_EQ(op_type_name({"aten::conv2d", ""}), "aten.conv2d.default");
  EXPECT_EQ(op_type_name({"aten::add", "Tensor"}), "aten.add.Tensor");
  EXPECT_EQ(parse_op_type("aten.conv2d.default"), c10::OperatorName("aten::conv2d", ""));
  EXPECT_EQ(parse_op_type("aten.add.Tensor"), c10::OperatorName("aten::add", "Tensor"));
}

TEST(OpTypeTest, RefusesOtherForms) {
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
      {encode("aten.linear.default", {{"input", value_meta("x")}, {"weight", value_meta("w")}}),
       "input=x weight=w"},
      {encode("aten.conv2d.default", {{"input", value_meta("x")},
                                      {"weight", value_meta("w")},
                                      {"bias", value_meta("b")},
                                      {"stride", Attribute::list({2, 2})}}),
       "input=x weight=w bias=b stride=[2, 2]"},
      {encode("aten.div.Tensor", {{"self", value_meta("x")}, {"other", Attribute(4.0)}}),
       "self=x other=4.0"},
      {encode("aten.cat.default",
              {{"tensors", List{value_meta("a"), value_meta("b")}}, {"dim", Attribute(1)}}),
       "tensors=[a,b,] dim=1"},
      {encode("aten.index.Tensor",
              {{"self", value_meta("x")}, {"indices", List{std::nullopt, value_meta("i")}}}),
       "self=x indices=[None,i,]"},
      {encode("aten.index_put.default",
              {{"self", value_meta("x")},
               {"indices", List{value_meta("i"), std::nullopt, value_meta("j")}},
               {"values", value_meta("v")},
               {"accumulate", Attribute(true)}}),
       "self=x indices=[i,None,j,] values=v accumulate=True"},
      {encode("aten.stack.default", {{"tensors", List{}}}), "tensors=[]"},
  };
  for (const auto& [node, expected] : cases) EXPECT_EQ(bound_text(node), expected);
}

TEST(BindingTest, NamesTheArgumentOnlyBehindAGap) {
  const OpNode norm = encode("aten.layer_norm.default", {{"input", value_meta("x")},
                                                         {"normalized_shape", Attribute::list({2})},
                                                         {"bias", value_meta("b")}});
  EXPECT_EQ(norm.inputs[0].arg, "");
  EXPECT_EQ(norm.inputs[1].arg, "bias");
  EXPECT_EQ(bound_text(norm), "input=x normalized_shape=[2] bias=b");

  const OpNode clamp =
      encode("aten.clamp.Tensor", {{"self", value_meta("x")}, {"max", value_meta("m")}});
  EXPECT_EQ(bound_text(clamp), "self=x max=m");

  const OpNode none =
      encode("aten.clamp.Tensor",
             {{"self", value_meta("x")}, {"min", Attribute()}, {"max", value_meta("m")}});
  EXPECT_EQ(none, clamp);
}

TEST(BindingTest, WritesListsAsThePythonPackageDoes) {
  const OpNode index =
      encode("aten.index.Tensor",
             {{"self", value_meta("x")}, {"indices", List{std::nullopt, value_meta("i")}}});
  const AttributeMap expected = {
      {"_tensor_list_sizes", Attribute::list({1})},
      {"_tensor_list_none_masks", Attribute::list({Attribute::list({true, false})})}};
  EXPECT_EQ(index.attrs, expected);

  const OpNode cat =
      encode("aten.cat.default",
             {{"tensors", List{value_meta("a"), value_meta("b")}}, {"dim", Attribute(1)}});
  const AttributeMap cat_expected = {{"_tensor_list_sizes", Attribute::list({2})}, {"dim", 1}};
  EXPECT_EQ(cat.attrs, cat_expected);
}

TEST(BindingTest, RefusesWhatDoesNotFitTheSchema) {
  EXPECT_THAT(error_of(node_of("aten.relu.default", {})),
              StrEq("node 'node' (aten.relu.default): missing argument 'self'"));
  EXPECT_THAT(error_of(node_of("aten.relu.default", {value_meta("x"), value_meta("y")})),
              StrEq("node 'node' (aten.relu.default): unexpected input 'y': the operator takes no "
                    "more tensors"));
  EXPECT_THAT(error_of(node_of("aten.relu.default", {value_meta("x")}, {{"inplace", true}})),
              StrEq("node 'node' (aten.relu.default): unexpected attribute 'inplace': the operator "
                    "has no such argument"));
  EXPECT_THAT(error_of(node_of("aten.flatten.using_ints", {})),
              StrEq("node 'node' (aten.flatten.using_ints): missing argument 'self'"));
  EXPECT_THAT(error_of(node_of("aten.transpose.int", {value_meta("x")}, {{"dim0", 1}})),
              StrEq("node 'node' (aten.transpose.int): missing argument 'dim1'"));
  EXPECT_THAT(error_of(node_of("aten.cat.default", {value_meta("x")}, {{"dim", 1}})),
              StrEq("node 'node' (aten.cat.default): missing argument 'tensors'"));
}

TEST(BindingTest, RefusesWrongListAttributes) {
  const auto cat = [](Attribute sizes) {
    return error_of(node_of("aten.cat.default", {value_meta("a"), value_meta("b")},
                            {{"_tensor_list_sizes", std::move(sizes)}}));
  };
  EXPECT_THAT(cat(Attribute::list({3})),
              StrEq("node 'node' (aten.cat.default): argument 'tensors' is a list of 3 tensors, "
                    "but only 2 inputs are left"));
  EXPECT_THAT(cat(Attribute::list({1})), StrEq("node 'node' (aten.cat.default): unexpected input "
                                               "'b': the operator takes no more tensors"));
  EXPECT_THAT(cat(Attribute::list({2, 1})),
              StrEq("node 'node' (aten.cat.default): '_tensor_list_sizes' has more counts than the "
                    "operator has lists of tensors"));
  EXPECT_THAT(cat(Attribute::list({-1})), StrEq("node 'node' (aten.cat.default): attribute "
                                                "'_tensor_list_sizes' must be a list of counts"));

  const OpNode index = node_of(
      "aten.index.Tensor", {value_meta("x"), value_meta("i")},
      {{"_tensor_list_sizes", Attribute::list({1})},
       {"_tensor_list_none_masks", Attribute::list({Attribute::list({true, false, false})})}});
  EXPECT_THAT(error_of(index),
              StrEq("node 'node' (aten.index.Tensor): the mask of argument 'indices' in "
                    "'_tensor_list_none_masks' has room for 2 tensors, not 1"));
}

TEST(BindingTest, RefusesNamedInputsThatDoNotFit) {
  TensorMeta bias = value_meta("b");
  bias.arg = "bais";
  EXPECT_THAT(error_of(node_of("aten.linear.default", {value_meta("x"), value_meta("w"), bias})),
              StrEq("node 'node' (aten.linear.default): input 'b' names the argument 'bais', which "
                    "the operator does not have"));
  bias.arg = "bias";
  EXPECT_THAT(
      error_of(node_of("aten.linear.default", {value_meta("x"), value_meta("w"), bias, bias})),
      StrEq("node 'node' (aten.linear.default): two inputs name the same argument"));
}

// --- Files of the Python package, which do not name arguments ---

TensorMeta made(const std::string& name) {
  TensorMeta tensor = value_meta(name);
  tensor.producer_node = name;
  return tensor;
}

TEST(BindingTest, AllOrNoneOfTheOptionalTensorsNeedNoNames) {
  const AttributeMap shape = {{"normalized_shape", Attribute::list({2})}};
  EXPECT_EQ(bound_text(node_of("aten.layer_norm.default",
                               {made("x"), value_meta("a"), value_meta("b")}, shape)),
            "input=x normalized_shape=[2] weight=a bias=b");
  EXPECT_EQ(bound_text(node_of("aten.layer_norm.default", {made("x")}, shape)),
            "input=x normalized_shape=[2]");
  // Two optional tensors come before two required ones.
  EXPECT_EQ(bound_text(node_of("aten._native_batch_norm_legit_no_training.default",
                               {made("x"), value_meta("b_mean"), value_meta("b_var")},
                               {{"momentum", 0.1}, {"eps", 1e-5}})),
            "input=x running_mean=b_mean running_var=b_var momentum=0.1 eps=1e-05");
}

TEST(BindingTest, WeightsAreTheArgumentsTheyAreNamedAfter) {
  const AttributeMap shape = {{"normalized_shape", Attribute::list({2})}};
  EXPECT_EQ(
      bound_text(node_of("aten.layer_norm.default", {made("x"), value_meta("p_norm_bias")}, shape)),
      "input=x normalized_shape=[2] bias=p_norm_bias");
  EXPECT_EQ(bound_text(node_of("aten.layer_norm.default", {made("x"), value_meta("p_norm_weight")},
                               shape)),
            "input=x normalized_shape=[2] weight=p_norm_weight");
  EXPECT_EQ(bound_text(node_of(
                "aten.batch_norm.default",
                {made("x"), value_meta("b_bn_running_mean"), value_meta("b_bn_running_var")},
                {{"training", false}, {"momentum", 0.1}, {"eps", 1e-5}, {"cudnn_enabled", false}})),
            "input=x running_mean=b_bn_running_mean running_var=b_bn_running_var training=False "
            "momentum=0.1 eps=1e-05 cudnn_enabled=False");
}

TEST(BindingTest, WhatCanNotBeKnownIsAnError) {
  EXPECT_EQ(error_of(node_of("aten.clamp.Tensor", {made("x"), made("t")})),
            "node 'node' (aten.clamp.Tensor): ambiguous inputs: of the optional arguments 'min' "
            "and 'max' only 1 is given; name the argument of each input with the key \"arg\"");
  EXPECT_EQ(
      error_of(node_of("aten.layer_norm.default", {made("x"), value_meta("p_gamma")},
                       {{"normalized_shape", Attribute::list({2})}})),
      "node 'node' (aten.layer_norm.default): ambiguous inputs: of the optional arguments 'weight' "
      "and 'bias' only 1 is given; name the argument of each input with the key \"arg\"");
}

}  // namespace
}  // namespace torch_ir
