#include "torch_ir/converter/converter.h"

#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"
#include "torch_ir/base/testing/warning_texts.h"
#include "torch_ir/ir/testing/program_graphs.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// linear(x, fc.weight, bias) * mask, then split in two.
Program sample_program() {
  const c10::ScalarType f32 = c10::ScalarType::Float;
  Program program;
  program.model_name = "Sample";
  program.torch_version = "2.13.0";
  const ValueId mask = add_input(program, "c_mask", {{4}, f32}, InputKind::kConstant, "mask");
  const ValueId bias = add_input(program, "b_bias", {{4}, f32}, InputKind::kBuffer, "bias");
  const ValueId weight =
      add_input(program, "p_fc_weight", {{4, 3}, f32}, InputKind::kParameter, "fc.weight");
  const ValueId x = add_input(program, "x", {{1, 3}, f32});
  const ValueId linear =
      add_node(program, "linear", "aten.linear.default",
               {{"input", x}, {"weight", weight}, {"bias", bias}}, {{1, 4}, f32});
  const ValueId mul = add_node(program, "mul", "aten.mul.Tensor",
                               {{"self", linear}, {"other", mask}}, {{1, 4}, f32});
  const ValueId first = program.add_value({.shape = {1, 2}, .dtype = f32, .name = "split_0"});
  const ValueId second = program.add_value({.shape = {1, 2}, .dtype = f32, .name = "split_1"});
  program.nodes.push_back({"split",
                           "aten.split.Tensor",
                           {{"self", mul}, {"split_size", 2}, {"dim", 1}},
                           {first, second}});
  program.outputs = {second, x};
  program.constants.insert("mask", at::ones({4}));
  set_uses(program);
  return program;
}

std::vector<std::string> names(const std::vector<TensorMeta>& metas) {
  std::vector<std::string> names;
  for (const TensorMeta& meta : metas) names.push_back(meta.name);
  return names;
}

// Registers a converter for as long as it lives.
class ScopedConverter {
 public:
  ScopedConverter(std::string op_type, OpConverter converter) : op_type_(std::move(op_type)) {
    register_op(op_type_, std::move(converter));
  }
  ~ScopedConverter() { register_op(op_type_, convert_default); }

 private:
  std::string op_type_;
};

TEST(GraphAnalyzerTest, AnswersOneQuestionAtATime) {
  const Program program = sample_program();
  const GraphAnalyzer analyzer(program);
  EXPECT_THAT(names(analyzer.get_graph_inputs()), ElementsAre("x"));
  EXPECT_THAT(names(analyzer.get_graph_outputs()), ElementsAre("split_1", "x"));
  EXPECT_THAT(names(analyzer.get_weights()), ElementsAre("fc.weight", "bias", "mask"));
  const auto mapping = analyzer.get_weight_name_mapping();
  EXPECT_THAT(mapping.keys(), ElementsAre("p_fc_weight", "b_bias", "c_mask"));
  EXPECT_THAT(mapping.values(), ElementsAre("fc.weight", "bias", "mask"));
  EXPECT_THAT(analyzer.get_call_function_nodes(), ::testing::SizeIs(3));
  EXPECT_THAT(analyzer.get_constants().keys(), ElementsAre("mask"));
}

TEST(GraphAnalyzerTest, GivesProducersToInputsOnly) {
  const Program program = sample_program();
  const GraphAnalyzer analyzer(program);
  const TensorMeta split = analyzer.get_input_meta("split_1");
  EXPECT_EQ(split.producer_node, "split");
  EXPECT_EQ(split.producer_output_idx, 1);
  EXPECT_EQ(analyzer.get_input_meta("x").producer_node, "x");
  EXPECT_EQ(analyzer.get_input_meta("c_mask").producer_node, std::nullopt);
  EXPECT_EQ(analyzer.get_output_meta("split_1").producer_node, std::nullopt);
  EXPECT_THROW(analyzer.get_input_meta("nothing"), ConversionError);
}

TEST(ConverterTest, ConvertsAWholeProgram) {
  Program program = sample_program();
  program.range_constraints = {{"s0", 2, 64}, {"2*s1", std::nullopt, 7}};
  program.guards = {"x.size()[0] % 2 == 0"};
  const IR ir = convert_exported_program(program);
  EXPECT_EQ(ir.guards, program.guards);
  EXPECT_EQ(ir.range_constraints, program.range_constraints);
  EXPECT_EQ(ir.model_name, "Sample");
  EXPECT_EQ(ir.pytorch_version, "2.13.0");
  ASSERT_EQ(ir.nodes.size(), 3u);
  EXPECT_THAT(names(ir.nodes[0].inputs), ElementsAre("x", "p_fc_weight", "b_bias"));
  EXPECT_TRUE(ir.nodes[0].attrs.empty());
  EXPECT_EQ(ir.nodes[2].attrs, AttributeMap({{"split_size", 2}, {"dim", 1}}));
  EXPECT_THAT(names(ir.nodes[2].outputs), ElementsAre("split_0", "split_1"));
  EXPECT_EQ(convert_exported_program(program, "Other").model_name, "Other");
}

TEST(ConverterTest, UsesTheRegisteredConverter) {
  const ScopedConverter converter("aten.split.Tensor",
                                  [](const Node& node, const GraphAnalyzer& analyzer) {
                                    OpNode converted = convert_default(node, analyzer);
                                    converted.attrs.set("dim", -1);
                                    return converted;
                                  });
  EXPECT_THAT(list_registered_ops(), ::testing::Contains("aten.split.Tensor"));
  EXPECT_EQ(*convert_exported_program(sample_program()).nodes[2].attrs.find("dim"), Attribute(-1));
}

// An error of LibTorch has a trace behind its message.
TEST(ConverterTest, FallsBackWithAWarningUnlessStrict) {
  const ScopedConverter converter(
      "aten.mul.Tensor",
      [](const Node&, const GraphAnalyzer&) -> OpNode { C10_THROW_ERROR(Error, "no such form"); });
  const std::string problem =
      "node 'mul': the converter registered for aten.mul.Tensor failed: no such form";
  WarningTexts warnings;
  EXPECT_EQ(convert_exported_program(sample_program()).nodes[1].op_type, "aten.mul.Tensor");
  EXPECT_THAT(warnings.texts, ElementsAre(problem + "; using the default converter"));
  EXPECT_THAT([] { convert_exported_program(sample_program(), "", /*strict=*/true); },
              ThrowsMessage<ConversionError>(problem));
}

// No schema gives the names of their inputs and the types of their attributes when such a file is
// read.
TEST(ConverterTest, KeepsTheArgumentsOfUnknownOperatorsByName) {
  Program program = sample_program();
  program.nodes[1].target = "no_such_library.cast.default";
  std::vector<Argument>& arguments = program.nodes[1].arguments;
  arguments.emplace_back("dtype", c10::ScalarType::BFloat16);
  arguments.emplace_back("devices", Attribute::list({c10::Device(c10::kCPU)}));
  arguments.emplace_back("z", std::complex<double>(1, 2));
  const IR ir = convert_exported_program(program);
  EXPECT_EQ(ir.nodes[1].inputs[0].arg, "self");
  EXPECT_EQ(ir.nodes[1].inputs[1].arg, "other");
  EXPECT_EQ(ir.nodes[1].attrs, (AttributeMap{{"dtype", "bfloat16"},
                                             {"devices", Attribute::list({"cpu"})},
                                             {"z", Attribute::list({1.0, 2.0})}}));
  EXPECT_EQ(IR::from_json(ir.to_json()), ir);
}

TEST(ConverterTest, RefusesProgramsThatContradictThemselves) {
  const auto refuses = [](const Program& program, const auto& message) {
    EXPECT_THAT([&] { convert_exported_program(program); },
                ThrowsMessage<ConversionError>(message));
  };
  Program program = sample_program();
  program.nodes[1].arguments[0].name = "left";
  program.nodes[1].name = "mul\n";
  refuses(program, "node 'mul\\x0a': aten.mul.Tensor has no argument 'left'");
  program = sample_program();
  program.nodes[1].arguments[0].value = ValueId{99};
  refuses(program, "the exported program has no value 99");
  program = sample_program();
  std::swap(program.nodes[0], program.nodes[1]);
  refuses(program, HasSubstr("the converted graph is not valid: "));
}

}  // namespace
}  // namespace torch_ir
