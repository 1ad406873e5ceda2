#include "torch_ir/exporter/pt2/read_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/testing/error_of.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/program_graphs.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

constexpr const char* kFloatMeta = R"({"dtype": 7, "sizes": [{"as_int": 2}], "layout": 7})";

std::string tensor(const std::string& name) {
  return R"({"as_tensor": {"name": ")" + name + "\"}}";
}

std::string argument(const std::string& name, const std::string& value) {
  return R"({"name": ")" + name + R"(", "arg": )" + value + ", \"kind\": 1}";
}

std::string node(const std::string& target, const std::string& arguments,
                 const std::string& outputs = tensor("y"), const std::string& name = "y") {
  return R"({"target": ")" + target + R"(", "name": ")" + name + R"(", "inputs": [)" + arguments +
         R"(], "outputs": [)" + outputs + R"(], "metadata": {}})";
}

const std::string kRelu = "torch.ops.aten.relu.default";

std::string relu(const std::string& from, const std::string& to) {
  return node(kRelu, argument("self", tensor(from)), tensor(to), to);
}

std::string graph_text(const std::string& inputs, const std::string& nodes,
                       const std::string& outputs, const std::string& values,
                       const std::string& numbers = "") {
  return R"({"inputs": [)" + inputs + R"(], "nodes": [)" + nodes + R"(], "outputs": [)" + outputs +
         R"(], "tensor_values": {)" + values + R"(}, "sym_int_values": {)" + numbers +
         R"(}, "sym_bool_values": {}})";
}

// The parts of a program; by default y = relu(x).
struct ProgramText {
  std::string version = R"({"major": 8, "minor": 20})";
  std::string inputs = tensor("x");
  std::string nodes = relu("x", "y");
  std::string outputs = tensor("y");
  std::string values = std::string("\"x\": ") + kFloatMeta + ", \"y\": " + kFloatMeta;
  std::string numbers = "";
  std::string input_specs = R"({"user_input": {"arg": )" + tensor("x") + "}}";
  std::string output_specs = R"({"user_output": {"arg": )" + tensor("y") + "}}";
  std::string ranges = "";

  std::string text() const {
    return R"({"schema_version": )" + version + R"(, "torch_version": "2.13.0+cpu", )" +
           R"("range_constraints": {)" + ranges + R"(}, "graph_module": {"graph": )" +
           graph_text(inputs, nodes, outputs, values, numbers) +
           R"(, "signature": {"input_specs": [)" + input_specs + R"(], "output_specs": [)" +
           output_specs + "]}}}";
  }

  Program read() const { return read_program(parse_json(text()), "stem"); }
};

ProgramText with_nodes(const std::string& nodes) {
  ProgramText program;
  program.nodes = nodes;
  return program;
}

std::string reading_error(const ProgramText& program) {
  return error_of<Error>([&] { program.read(); });
}

// The value of the argument `other` of aten.mul.Tensor, read from `value`.
Attribute read_attribute(const std::string& value) {
  const std::string arguments = argument("self", tensor("x")) + ", " + argument("other", value);
  const Program program = with_nodes(node("torch.ops.aten.mul.Tensor", arguments)).read();
  return std::get<Attribute>(program.nodes[0].arguments[1].value);
}

TEST(ReadProgramTest, ReadsEveryKindOfAttribute) {
  const auto list = [](std::initializer_list<Attribute> items) { return Attribute::list(items); };
  const struct {
    const char* json;
    Attribute value;
  } cases[] = {
      {R"({"as_none": true})", Attribute()},
      {R"({"as_int": 9223372036854775807})", Attribute(INT64_MAX)},
      {R"({"as_ints": [1, -2]})", list({1, -2})},
      {R"({"as_int_lists": [[1], []]})", list({list({1}), list({})})},
      {R"({"as_float": 0.5})", 0.5},
      {R"({"as_float": 2})", 2.0},
      {R"({"as_float": "-Infinity"})", -std::numeric_limits<double>::infinity()},
      {R"({"as_floats": [1.0, "NaN"]})", list({1.0, std::numeric_limits<double>::quiet_NaN()})},
      {R"({"as_float_lists": [[1.5]]})", list({list({1.5})})},
      {R"({"as_bool": false})", false},
      {R"({"as_bools": [true]})", list({true})},
      {R"({"as_string": "mean"})", "mean"},
      {R"({"as_strings": ["a"]})", list({"a"})},
      {R"({"as_complex": {"real": 1.0, "imag": -2.0}})", std::complex<double>(1, -2)},
      {R"({"as_sym_int": {"as_int": 4}})", 4},
      {R"({"as_sym_float": {"as_float": 0.25}})", 0.25},
      {R"({"as_sym_bool": {"as_bool": true}})", true},
      {R"({"as_sym_ints": [{"as_int": 4}, {"as_int": 5}]})", list({4, 5})},
      {R"({"as_scalar_type": 13})", c10::ScalarType::BFloat16},
      {R"({"as_scalar_type": 28})", c10::ScalarType::UInt16},
      {R"({"as_layout": 7})", c10::kStrided},
      {R"({"as_memory_format": 2})", c10::MemoryFormat::ChannelsLast},
      {R"({"as_device": {"type": "cuda", "index": 1}})", c10::Device("cuda:1")},
      {R"({"as_device": {"type": "cpu", "index": null}})", c10::Device("cpu")},
      {R"({"as_custom_obj": {"name": "o", "class_fqn": "A.B\n"}})",
       Opaque{"an object of the class 'A.B\\x0a'"}},
      {R"({"as_nested_tensors": []})", Opaque{"a list of lists of tensors"}},
      {R"({"as_string_to_argument": {}})", Opaque{"a dict"}},
  };
  for (const auto& [json, value] : cases) EXPECT_EQ(read_attribute(json), value) << json;
}

TEST(ReadProgramTest, RefusesWhatIsNotInTheSchema) {
  const std::string place = "graph_module.graph.nodes[0].inputs[1].arg";
  const std::string node = "node 'y' (aten.mul.Tensor): argument 'other': ";
  const std::pair<const char*, std::string> cases[] = {
      {R"({"as_future": 1})", place + ": unknown kind of argument 'as_future'"},
      {R"({"as_int": 1, "as_bool": true})",
       place + ": expected an object with one key, found 2 keys"},
      {R"({"as_int": 1.5})", place + ".as_int: expected an integer, found a float"},
      {R"({"as_scalar_type": 14})", place + ".as_scalar_type: unknown dtype number 14"},
      {R"({"as_layout": 8})", place + ".as_layout: unknown layout number 8"},
      {R"({"as_memory_format": 0})", place + ".as_memory_format: unknown memory format number 0"},
      {R"({"as_device": {"type": "toaster"}})", place + ".as_device: unknown device 'toaster'"},
      {R"({"as_device": {"type": "cpu", "index": 999}})",
       place + ".as_device: invalid device index 999"},
      {R"({"as_sym_int": {"as_text": 1}})",
       place + ".as_sym_int: unknown kind of number 'as_text'"},
      {R"({"as_operator": "torch.ops.aten.relu.default"})",
       node + "expected a value as an argument, found a graph or an operator"},
      {R"({"as_tensor": {"name": "z"}})",
       node + "the value 'z' is used before any node or input makes it"},
  };
  for (const auto& [json, message] : cases) {
    EXPECT_THAT([json = json] { read_attribute(json); }, ThrowsMessage<Error>(message));
  }
}

TEST(ReadProgramTest, RefusesOtherVersionsOfTheSchema) {
  ProgramText program;
  EXPECT_EQ(program.read().model_name, "stem");
  program.version = R"({"major": 9, "minor": 1})";
  EXPECT_EQ(reading_error(program),
            "unsupported schema version 9.1: this program reads version 8.20; export the model "
            "with a PyTorch that writes 8.x (2.6 and later)");
  program.version = R"({"major": 8, "minor": 99})";
  EXPECT_EQ(reading_error(program), "");
}

// The scan of PyTorch 2.6 had more arguments.
TEST(ReadProgramTest, LoopsOverSlicesHaveAFormOfTheirOwn) {
  EXPECT_EQ(
      reading_error(with_nodes(node("torch.ops.higher_order.scan", argument("", tensor("x"))))),
      "node 'y' (higher_order.scan): wrong number of arguments: 1, expected 4; export the "
      "model with PyTorch 2.7 or later");
}

// A key is a number, or "L__self__" and the path; torch.export does not escape the path.
TEST(ReadProgramTest, PathsOfModulesHoldAnything) {
  const auto module_of = [](const std::string& stack) {
    ProgramText program;
    program.nodes.insert(program.nodes.size() - 2, R"("nn_module_stack": ")" + stack + '"');
    return program.read().nodes.at(0).origin.module;
  };
  const std::string root = "L__self__,,m.Net;";
  EXPECT_EQ(module_of("L__self__,,m.Net"), "");
  EXPECT_EQ(module_of(root + "L__self__a.b,a.b,m.A"), "a.b");
  EXPECT_EQ(module_of(root + "L__self__a;b,c@2,a;b,c,m.A"), "a;b,c");
  EXPECT_EQ(module_of(root + "L__self__p,p,p,p,m.A;L__self__p,p.0,p,p.0,m.B"), "p,p.0");
  EXPECT_EQ(module_of(root + "140374@1,a;b,c,m.A;140375,a;b,c.0,m.B"), "a;b,c.0");
  EXPECT_EQ(module_of(root + "L__self___conv1,conv1,m.Conv"), "conv1");
  const std::string hook = "_empty_nn_module_stack_from_metadata_hook";
  EXPECT_EQ(module_of(hook + "," + hook + "," + hook), "");
  EXPECT_EQ(module_of(root + "140374,_export_root,m.Net"), "");
  EXPECT_EQ(module_of(root + "140374,_export_root.a,m.A"), "a");
}

TEST(ReadProgramTest, UnknownOperatorsOfTheDispatcherAreKept) {
  const auto with_name = [](const std::string& name) {
    return with_nodes(node("torch.ops.mine.op.default", argument(name, tensor("x"))));
  };
  EXPECT_EQ(with_name("a").read().nodes[0].target, "mine.op.default");
  EXPECT_EQ(reading_error(with_name("")),
            "node 'y' (mine.op.default): argument 0 has no name, and the operator is unknown; load "
            "the library that defines it (--load-library)");
}

TEST(ReadProgramTest, OperatorsOfTheDialectsOfExecuTorchAreThoseOfPyTorch) {
  for (const std::string dialect : {"edge._ops", "edge.ops", "backend._ops"}) {
    const std::string target = "executorch.exir.dialects." + dialect + ".aten.relu.default";
    const Program program = with_nodes(node(target, argument("self", tensor("x")))).read();
    EXPECT_EQ(program.nodes[0].target, "aten.relu.default");
  }
}

TEST(ReadProgramTest, ObjectsAreSaidAndTensorsInDictsAndListsAreInputs) {
  const std::string object = R"({"name": "o", "class_fqn": "trt.Engine"})";
  ProgramText program;
  program.inputs += R"(, {"as_custom_obj": )" + object + "}";
  program.input_specs +=
      R"(, {"custom_obj": {"arg": )" + object + R"(, "custom_obj_name": "engine"}})";
  // An operator that this process knows, too.
  for (const char* target : {"nobody.run.default", "aten.relu.default"}) {
    program.nodes =
        node(std::string("torch.ops.") + target,
             argument("e", R"({"as_custom_obj": )" + object + "}") + ", " +
                 argument("d", R"({"as_string_to_argument": {"k": )" + tensor("x") + "}}") + ", " +
                 argument("n", R"({"as_nested_tensors": [[{"name": "x"}]]})"));
    const Program read = program.read();
    EXPECT_EQ(*read.constant_inputs.find("engine"), Opaque{"an object of the class 'trt.Engine'"});
    const Node& node = read.nodes.at(0);
    EXPECT_EQ(node.find_opaque()->name, "e");
    EXPECT_EQ(node.inputs(), (std::vector<ValueId>{0, 0}));
    const IR ir = to_ir(read);
    EXPECT_EQ(ir.nodes[0].inputs[0].arg, "d.k");
    EXPECT_EQ(ir.nodes[0].inputs[1].arg, "n.0");
    EXPECT_EQ(*ir.nodes[0].attrs.find("n"), Opaque{"a list of lists of tensors"});
    const IR again = IR::from_json(ir.to_json());
    EXPECT_EQ(again, ir);
    EXPECT_EQ(to_ir(resolve(again)), ir);
  }
}

TEST(ReadProgramTest, ListsOfTensorsOfUnknownOperatorsAreInputs) {
  const std::string list =
      R"({"as_optional_tensors": [{"as_none": true}, )" + tensor("x") + ", " + tensor("x") + "]}";
  const IR ir =
      to_ir(with_nodes(node("torch.ops.nobody.join.default", argument("xs", list))).read());
  EXPECT_EQ(ir.nodes[0].inputs.at(1).arg, "xs");
  EXPECT_EQ(*ir.nodes[0].attrs.find("_tensor_list_sizes"), Attribute::list({2}));
  EXPECT_EQ(*ir.nodes[0].attrs.find("_tensor_list_none_masks"),
            Attribute::list({Attribute::list({true, false, false})}));
  EXPECT_EQ(to_ir(resolve(ir)), ir);
}

TEST(ReadProgramTest, ArgumentsWithoutNamesAreNamedByPosition) {
  const auto with = [](const std::string& arguments) { return with_nodes(node(kRelu, arguments)); };
  const std::string unnamed = argument("", tensor("x"));
  const std::string self = argument("self", tensor("x"));
  EXPECT_EQ(with(unnamed).read().nodes[0].arguments[0].name, "self");
  EXPECT_EQ(reading_error(with(unnamed + ", " + unnamed)),
            "node 'y' (aten.relu.default): wrong number of arguments: 2, expected at most 1");
  EXPECT_EQ(reading_error(with(self + ", " + self)),
            "node 'y' (aten.relu.default): duplicate argument 'self'");
}

TEST(ReadProgramTest, NodesWithoutNamesAreCalledAsTheirOutput) {
  const std::string self = argument("self", tensor("x"));
  const Program program = with_nodes(node(kRelu, self, tensor("y"), "") + ", " +
                                     node("torch.ops.aten._assert_async.default", self, "", ""))
                              .read();
  EXPECT_EQ(program.nodes[0].name, "y");
  EXPECT_EQ(program.nodes[1].name, "_assert_async_default");
}

// A dtype, which no node of a graph can read.
TEST(ReadProgramTest, ResultsThatAreNoTensorsAreLeftOut) {
  for (const char* outputs : {"", R"({"as_none": true})"}) {
    const std::string arguments =
        argument("tensor", tensor("x")) + ", " + argument("other", tensor("x"));
    const Program program =
        with_nodes(node("torch.ops.aten.result_type.Tensor", arguments, outputs, "result_type") +
                   ", " + relu("x", "y"))
            .read();
    ASSERT_EQ(program.nodes.size(), 2);
    EXPECT_THAT(program.nodes[0].outputs, IsEmpty());
    EXPECT_EQ(program[std::get<ValueId>(program.nodes[1].arguments[0].value)].name, "x");
  }
}

TEST(ReadProgramTest, OutputsThatAreNoneAreLeftOut) {
  ProgramText program;
  program.values += std::string(", \"z\": ") + kFloatMeta;
  program.nodes =
      node("torch.ops.aten.convolution_backward.default", "",
           R"({"as_none": true}, {"as_tensors": [{"name": "y"}]}, )" + tensor("z"), "node");
  const Program read = program.read();
  EXPECT_THAT(names_of(read, read.nodes[0].outputs), ElementsAre("y", "z"));
  EXPECT_EQ(read.nodes[0].name, "node");
}

TEST(ReadProgramTest, NumbersOfNodesAreReferences) {
  ProgramText program;
  program.numbers =
      R"json("n": {"as_expr": {"expr_str": "Symbol('s0')", "hint": null}}, "m": {"as_int": 6})json";
  program.inputs += R"(, {"as_sym_int": {"as_name": "n"}})";
  program.input_specs += R"(, {"user_input": {"arg": {"as_sym_int": {"as_name": "n"}}}})";
  program.nodes = node("_operator.mul",
                       argument("", R"({"as_sym_int": {"as_name": "n"}})") + ", " +
                           argument("", R"({"as_int": 2})"),
                       R"({"as_sym_int": {"as_name": "m"}})", "m") +
                  ", " +
                  node("torch.ops.aten.full.default",
                       argument("size", R"({"as_sym_ints": [{"as_name": "m"}, {"as_int": 3}]})") +
                           ", " + argument("fill_value", tensor("n")),
                       tensor("y"));
  const Program read = program.read();
  EXPECT_EQ(value_of(read, "n").expression, "s0");
  EXPECT_EQ(value_of(read, "m").expression, "6");
  EXPECT_EQ(read.nodes[0].target, "_operator.mul");
  EXPECT_EQ(read.nodes[0].arguments[0].name, "a");
  EXPECT_EQ(read.nodes[0].arguments[1].name, "b");
  EXPECT_EQ(std::get<Attribute>(read.nodes[1].arguments[0].value),
            Attribute::list({ValueRef{"m"}, 3}));
  // Archives may refer to a number as to a tensor.
  EXPECT_EQ(std::get<Attribute>(read.nodes[1].arguments[1].value), Attribute(ValueRef{"n"}));
}

TEST(ReadProgramTest, RangesWithoutLimitsSayNothing) {
  ProgramText program;
  program.ranges =
      R"("s0": {"min_val": 2, "max_val": null}, "u0": {"min_val": null, "max_val": null},
         "2*s0": {"min_val": -9223372036854775807, "max_val": 9223372036854775806},
         "u1": {"min_val": 0, "max_val": 18446744073709551615})";
  EXPECT_EQ(program.read().range_constraints,
            (std::vector<SymbolRange>{{"s0", 2, std::nullopt}, {"u1", 0, std::nullopt}}));
}

TEST(ReadProgramTest, ShapesMustBePossible) {
  const std::string place = "graph_module.graph.tensor_values.x";
  std::string many;
  for (int i = 0; i < 65; ++i) many += (i == 0 ? "" : ", ") + std::string(R"({"as_int": 1})");
  const std::pair<std::string, std::string> cases[] = {
      {R"("dtype": 7, "sizes": [{"as_int": -1}])", ".sizes[0]: negative size -1"},
      {R"("dtype": 0, "sizes": [])", ".dtype: unknown dtype number 0"},
      {R"("dtype": 7, "sizes": [{"as_int": 4611686018427387904}])",
       ".sizes: the tensor would need more than 2^63 bytes"},
      {R"("dtype": 7, "sizes": [)" + many + "]",
       ".sizes: 65 dimensions; a tensor can have at most 64"},
      {R"("dtype": 7, "sizes": [], "layout": 2)",
       ".layout: tensors of the layout sparse_csr are not supported"},
      {R"json("dtype": 7, "sizes": [{"as_expr": {"expr_str": "exit()(1)"}}])json",
       ".sizes[0].as_expr.expr_str: the expression 'exit()(1)' has a syntax error at character 7"},
      {R"json("dtype": 7, "sizes": [{"as_expr": {"expr_str": "Mod(Integer(1), Integer(0))"}}])json",
       ".sizes[0].as_expr.expr_str: the expression 'Mod(1, 0)' has no integer value"},
      {R"("sizes": [])", ": missing key 'dtype'"},
  };
  for (const auto& [meta, message] : cases) {
    ProgramText program;
    program.values = "\"x\": {" + meta + "}";
    EXPECT_EQ(reading_error(program), place + message);
  }
}

TEST(ReadProgramTest, AnExpressionWithoutSymbolsIsASize) {
  ProgramText program;
  program.values =
      std::string("\"y\": ") + kFloatMeta +
      R"json(, "x": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "Integer(5)"}}]})json";
  const Value meta = value_of(program.read(), "x");
  EXPECT_EQ(meta.shape, std::vector<int64_t>{5});
  EXPECT_THAT(meta.symbolic_shape, IsEmpty());
}

TEST(ReadProgramTest, GraphAndSignatureMustAgree) {
  const auto with = [](std::string ProgramText::* part, const std::string& text) {
    ProgramText program;
    program.*part = text;
    return reading_error(program);
  };
  EXPECT_EQ(with(&ProgramText::input_specs, ""),
            "wrong number of inputs in the graph: 1; the signature has 0");
  EXPECT_EQ(with(&ProgramText::output_specs, ""),
            "wrong number of outputs in the graph: 1; the signature has 0");
  EXPECT_EQ(with(&ProgramText::input_specs, R"({"user_input": {"arg": )" + tensor("y") + "}}"),
            "an input is 'y' in the signature, but 'x' in the graph");
  EXPECT_EQ(with(&ProgramText::outputs, R"({"as_int": 1})"),
            "an output is 'y' in the signature, but fixed in the graph");
  EXPECT_EQ(with(&ProgramText::input_specs, R"({"lifted": {}})"),
            "graph_module.signature.input_specs[0]: unknown kind 'lifted'");
  EXPECT_EQ(with(&ProgramText::output_specs,
                 R"({"gradient_to_parameter": {"arg": {"name": "y"}, "parameter_name": "w"}})"),
            "graph_module.signature.output_specs[0].gradient_to_parameter: gradients among the "
            "outputs are not supported; export the model for inference");
  EXPECT_EQ(with(&ProgramText::output_specs,
                 R"({"buffer_mutation": {"arg": {"name": "y"}, "buffer_name": "b"}})"),
            "the output 'y' is the new value of the buffer 'b', which is not an input");
}

TEST(ReadProgramTest, NamesAreUniqueAndKnown) {
  const auto with = [](const std::string& nodes) { return reading_error(with_nodes(nodes)); };
  EXPECT_EQ(with(relu("x", "y") + ", " + relu("x", "y")),
            "node 'y' (aten.relu.default): duplicate value 'y'");
  EXPECT_EQ(with(node(kRelu, argument("self", tensor("x")), tensor("new"))),
            "node 'y' (aten.relu.default): missing shape and dtype of the value 'new'");
  EXPECT_EQ(with(relu("y", "y")),
            "node 'y' (aten.relu.default): argument 'self': the value 'y' is used before any node "
            "or input makes it");
}

// x is called y inside, and the y inside is another.
TEST(ReadProgramTest, InlinedGraphsAreNamedAnew) {
  const std::string values =
      std::string("\"x\": ") + kFloatMeta + ", \"y\": " + kFloatMeta + ", \"z\": " + kFloatMeta;
  const std::string inner = graph_text(tensor("y"), relu("y", "x") + ", " + relu("x", "z"),
                                       tensor("z") + ", " + tensor("y"), values);
  ProgramText program;
  program.values = values;
  program.nodes = node("torch.ops.higher_order.wrap_with_set_grad_enabled",
                       argument("", R"({"as_bool": false})") + ", " +
                           argument("", R"({"as_graph": {"name": "g", "graph": )" + inner + "}}") +
                           ", " + argument("", tensor("x")),
                       tensor("y") + ", " + tensor("z"), "wrap");
  program.outputs = tensor("y") + ", " + tensor("z");
  program.output_specs += R"(, {"user_output": {"arg": )" + tensor("z") + "}}";
  const Program read = program.read();
  ASSERT_EQ(read.nodes.size(), 3);
  EXPECT_EQ(read.nodes[0].name, "x_1");
  EXPECT_EQ(read[std::get<ValueId>(read.nodes[0].arguments[0].value)].name, "x");
  EXPECT_EQ(read.nodes[1].name, "y");
  EXPECT_EQ(read[std::get<ValueId>(read.nodes[1].arguments[0].value)].name, "x_1");
  // An input that is returned keeps the name by which callers know the output.
  EXPECT_EQ(read.nodes[2].target, "aten.alias.default");
  EXPECT_THAT(names_of(read, read.outputs), ElementsAre("y", "z"));
}

TEST(ReadProgramTest, InlinedGraphsMustFitTheirNode) {
  const std::string inner =
      graph_text(tensor("x"), "", tensor("x"), "\"x\": " + std::string(kFloatMeta));
  const auto wrap = [&](const std::string& operands, const std::string& outputs) {
    return reading_error(with_nodes(
        node("torch.ops.higher_order.wrap_with_set_grad_enabled",
             argument("", R"({"as_bool": false})") + ", " +
                 argument("", R"({"as_graph": {"name": "g", "graph": )" + inner + "}}") + operands,
             outputs, "wrap")));
  };
  const std::string place = "node 'wrap' (higher_order.wrap_with_set_grad_enabled): ";
  EXPECT_EQ(wrap("", tensor("y")),
            place + "wrong number of operands: 0, expected 1 for the inputs of the graph");
  EXPECT_EQ(wrap(", " + argument("", tensor("x")), ""),
            place + "wrong number of outputs: 0, expected 1 for the outputs of the graph");
}

// The texts are PyTorch 2.13's, for the arguments x, inp = {'a': [..], 'B c': ..}, k, 2.5 and n.
TEST(ReadProgramTest, GuardsHaveTheNamesOfGraphInputs) {
  Program program;
  for (const char* name : {"x", "inp_a_0", "inp_b_c", "k"}) {
    const std::string size = name == std::string("k") ? "s1" : "s0";
    add_input(program, name, {{kDynamicSize, 3}, at::kFloat, {size, ""}});
  }
  add_input(program, "n", {{}, at::kLong, {}, true, "s2"});
  Signature signature;
  for (const char* name : {"x", "inp_a_0", "inp_b_c", "k"}) {
    signature.inputs.push_back({PortSpec::Role::kValue, name});
  }
  signature.inputs.push_back({PortSpec::Role::kFixed, "scale"});
  signature.inputs.push_back({PortSpec::Role::kValue, "n"});
  signature.inputs.push_back({PortSpec::Role::kValue, "p_w", InputKind::kParameter, "w"});
  const auto guards = [&](const std::string& code) {
    return find_guards({code}, signature, program);
  };
  EXPECT_THAT(guards("(L['x'].size()[0] % 4) == 0"), ElementsAre("x.size()[0] % 4 == 0"));
  EXPECT_THAT(guards("L['x'].size()[0] == (2*L['inp']['a'][0].size()[1])"),
              ElementsAre("x.size()[0] == 2*inp_a_0.size()[1]"));
  EXPECT_THAT(guards("(L['inp'][\"B c\"].size()[0] // 2)*(L['n'] % 3) >= 2"),
              ElementsAre("(inp_b_c.size()[0] // 2)*(n % 3) >= 2"));
  EXPECT_THAT(guards("(L['flat_args'][5] % 3) != L['flat_args'][3].size()[0]"),
              ElementsAre("n % 3 != k.size()[0]"));
  EXPECT_THAT(guards("L['n'] >= 0 and L['n'] <= L['inp'].a[0].size()[0]"),
              ElementsAre("n >= 0 and n <= inp_a_0.size()[0]"));
  // A shape says the same.
  EXPECT_THAT(guards("L['x'].size()[0] == L['inp']['a'][0].size()[0]"), IsEmpty());
  EXPECT_THAT(guards("L['x'].size()[0] == L['k'].size()[0]"),
              ElementsAre("x.size()[0] == k.size()[0]"));
  EXPECT_THAT(guards("L['x'].size()[0] != L['inp']['a'][0].size()[0]"),
              ElementsAre("x.size()[0] != inp_a_0.size()[0]"));
  const std::string again = "L['x'].size()[0] > 3";
  EXPECT_THAT(find_guards({again, again}, signature, program), ElementsAre("x.size()[0] > 3"));
  for (const std::string code :
       {"L['x']._base.size()[0] != L['x'].size()[1]", "L['y'].size()[0] > 3", "L['x'", "L",
        "L['scale", "L['x'].size()[0] if L['n'] == 3 else 4", "L['self'].w.size()[0] == 3",
        "__import__('os')"}) {
    EXPECT_THAT(guards(code), ElementsAre(code));
  }
}

// The shapes that PyTorch 2.6 wrote for nn.LSTM(3, 4, bidirectional=True).
TEST(ReadProgramTest, FinalStatesOfAnLstmHaveTheShapesOfTheInitialOnes) {
  const c10::ScalarType f32 = c10::ScalarType::Float;
  Graph graph;
  const ValueId x = add_input(graph, "x", {{5, 2, 3}, f32});
  const ValueId h = add_input(graph, "h", {{2, 2, 4}, f32});
  const ValueId c = add_input(graph, "c", {{2, 2, 4}, f32});
  add_node(graph, "lstm", "aten.lstm.input", {{"input", x}, {"hx", ValueList{h, c}}},
           {{5, 2, 8}, f32});
  std::vector<ValueId>& outputs = graph.nodes[0].outputs;
  for (int i = 0; i < 2; ++i) outputs.push_back(graph.add_value({{2, 1, 2, 4}, f32}));
  repair_known_faults(graph);
  EXPECT_THAT(graph[outputs[0]].shape, ElementsAre(5, 2, 8));
  EXPECT_THAT(graph[outputs[1]].shape, ElementsAre(2, 2, 4));
  EXPECT_THAT(graph[outputs[2]].shape, ElementsAre(2, 2, 4));
}

}  // namespace
}  // namespace torch_ir
