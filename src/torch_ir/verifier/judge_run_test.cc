#include "torch_ir/verifier/judge_run.h"

#include <ATen/ops/matmul.h>
#include <gmock/gmock.h>

#include "torch_ir/ir/resolve.h"
#include "torch_ir/operators/op_handler_registry.h"
#include "torch_ir/verifier/lanes.h"
#include "torch_ir/verifier/rounding.h"
#include "torch_ir/verifier/testing/graphs.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using enum ReferenceKind;

constexpr double kScale = 0.05;

Case expecting(const EagerGraph& graph, std::vector<at::Tensor> expected) {
  Case content = graph.as_case();
  content.expected = std::move(expected);
  return content;
}

std::vector<at::Tensor> outputs_of(const EagerGraph& graph, Program executed) {
  return eager_outputs(graph.as_case().with(std::move(executed)));
}

// The report on an executor that runs `executed` in place of the graph, and `with_values` in a run
// with more outputs.
VerificationReport report_on(const EagerGraph& graph, const IR& executed, const IR& with_values) {
  Case content = graph.as_case();
  content.expected = outputs_of(graph, *content.program);
  const std::vector<at::Tensor> outputs = outputs_of(graph, resolve(executed));
  const auto rerun = [&](const auto&) {
    const Program program = resolve(with_values);
    return outputs_of(graph, with_outputs(program, rounded_values(program)));
  };
  return judge_run({.graph_case = content,
                    .outputs = outputs,
                    .rerun = rerun,
                    .run_eagerly = [&] { return content.expected; }},
                   {.by_dtype = true}, {.reference = kAuto});
}

VerificationReport report_on(const EagerGraph& graph, const IR& executed) {
  return report_on(graph, executed, executed);
}

// The graph with another attribute of a node.
IR with_attribute(const EagerGraph& graph, size_t node, const char* name, const Attribute& value) {
  IR executed = graph.ir;
  executed.nodes[node].attrs.set(name, value);
  return executed;
}

// Judges `outputs` of the graph by the outputs of its model.
VerificationReport judged_by(const std::vector<at::Tensor>& expected, const EagerGraph& graph,
                             const std::vector<at::Tensor>& outputs, const Criterion& criterion) {
  return judge_run({.graph_case = expecting(graph, expected), .outputs = outputs},
                   {.by_dtype = true}, criterion);
}

VerificationReport judged(const EagerGraph& graph, const std::vector<at::Tensor>& outputs,
                          const Criterion& criterion = {.reference = kAuto}) {
  return judged_by(graph.expected(), graph, outputs, criterion);
}

// Quantizes, dequantizes and multiplies matrices, twice: a value after the second quantise node
// differs by a step if the product is rounded differently.
struct QuantizedGraph {
  QuantizedGraph() {
    at::manual_seed(0);
    V value = graph.input("x", at::rand({64, 32}).sub(0.5).mul(6));
    const V weight = graph.weight("w", at::rand({32, 32}).sub(0.5));
    for (int i = 0; i < 2; ++i) {
      for (const char* direction : {"quantize", "dequantize"}) {
        value = in_int8(graph, direction, value, kScale, /*zero_point=*/3);
      }
      if (i == 0) value = graph.call1("aten.matmul.default", {value, weight});
    }
    graph.output(value);
  }

  // The first row lies between two steps: the last digit decides.
  void add_ties() { graph.inputs[0].select(0, 0).fill_(2.5 * kScale); }

  IR with_scale(size_t node, double factor) const {
    return with_attribute(graph, node, "scale", Attribute(kScale * factor));
  }

  EagerGraph graph;
};

// A backend that returns no state is asked for rounded values.
TEST(Rounding, StateThatIsNotReturnedStaysLast) {
  const QuantizedGraph quantized;
  Case content = quantized.graph.as_case();
  Program program = *content.program;
  const ValueId x = program.inputs[0].value;
  program.mutations.push_back({program.outputs.size(), x, /*in_place=*/true});
  program.outputs.push_back(x);
  content = content.with(std::move(program));
  const auto run = [](const Case& graph_case) {
    std::vector<at::Tensor> outputs = eager_outputs(graph_case);
    EXPECT_EQ(graph_case.program->mutations[0].output, outputs.size() - 1);
    outputs.back() = at::Tensor();
    return outputs;
  };
  content.expected = eager_outputs(content);
  const std::vector<at::Tensor> outputs = run(content);
  const VerificationReport report =
      judge_run({.graph_case = content, .outputs = outputs, .rerun = run}, {.by_dtype = true},
                {.reference = kFloat64});
  EXPECT_EQ(report.error_message, "");
  EXPECT_EQ(report.passed_by, Basis::kOwnError);
}

TEST(Rounding, AStepThatARoundingErrorExplainsIsRight) {
  QuantizedGraph quantized;
  quantized.add_ties();
  const VerificationReport report = report_on(quantized.graph, quantized.with_scale(0, 1 - 1e-7));
  EXPECT_TRUE(report.is_valid);
  EXPECT_EQ(report.passed_by, Basis::kOwnError);
  ASSERT_EQ(report.rounded.size(), 1u);
  EXPECT_EQ(report.rounded[0].node, "n0");
  EXPECT_EQ(report.rounded[0].basis, Basis::kOwnError);
  EXPECT_EQ(report.rounded[0].steps->num_off_by_one, 32);
  EXPECT_EQ(report.rounded[0].steps->num_off_by_more, 0);
}

TEST(Rounding, TwoRunsMayDecideNearTiesOtherwiseAndNothingElse) {
  for (const bool has_tie : {true, false}) {
    QuantizedGraph quantized;
    if (has_tie) quantized.add_ties();
    for (const double factor : {1 - 1e-7, 1.01}) {
      const VerificationReport report =
          report_on(quantized.graph, quantized.with_scale(0, factor), quantized.graph.ir);
      EXPECT_EQ(report.is_valid, factor < 1) << report.error_message;
      if (report.is_valid) continue;
      EXPECT_THAT(report.error_message, HasSubstr("differs from that of the run without"));
      EXPECT_EQ(report.error_message.find("no near tie") != std::string::npos, !has_tie);
    }
  }
}

TEST(Rounding, WrongNodesAreNoticed) {
  const QuantizedGraph quantized;
  for (const size_t node : {0, 3}) {
    for (const bool is_scale : {true, false}) {
      const IR executed = is_scale
                              ? quantized.with_scale(node, 1.01)
                              : with_attribute(quantized.graph, node, "zero_point", Attribute(4));
      const std::string& name = executed.nodes[node].name;
      const VerificationReport report = report_on(quantized.graph, executed);
      EXPECT_FALSE(report.is_valid);
      EXPECT_THAT(
          report.error_message,
          AllOf(HasSubstr("; '" + name + "' (quantized_decomposed.quantize_per_tensor.default): "),
                HasSubstr("which rounding does not explain")));
      EXPECT_EQ(report.rounded.at(0).node, name);
      EXPECT_GT(report.rounded[0].steps->num_off_by_one, is_scale ? 0 : 900);
    }
  }
  // So is what is computed from rounded values.
  const VerificationReport report = report_on(quantized.graph, quantized.with_scale(4, 1.01));
  EXPECT_FALSE(report.is_valid);
  EXPECT_THAT(report.error_message, HasSubstr("; an RMS error of "));
}

// The graph chooses a scale of about 1 and a zero point between -28 and -27.
TEST(Rounding, AZeroPointMayBeOffByOneOnlyWhereARoundingErrorDecidesIt) {
  EagerGraph graph;
  const EagerArgument low = Attribute(-128);
  const EagerArgument high = Attribute(127);
  const Attribute dtype(at::kChar);
  V x = graph.input("x", at::tensor({-100.5, 3.0, 154.5}, at::kFloat));
  x = graph.call1("aten.add.Scalar", {x, Attribute(0.0)});
  const std::vector<V> chosen = graph.call("quantized_decomposed.choose_qparams.tensor",
                                           {x, low, high, Attribute(1e-5), dtype});
  for (const char* op : {"quantize_per_tensor", "dequantize_per_tensor"}) {
    x = graph.call1(std::string("quantized_decomposed.") + op + ".tensor",
                    {x, chosen[0], chosen[1], low, high, dtype});
  }
  graph.output(x);
  const VerificationReport report =
      report_on(graph, with_attribute(graph, 0, "other", Attribute(-1.5e-5)));
  EXPECT_EQ(report.error_message, "");
  EXPECT_EQ(report.rounded.at(0).node, "n1");
  EXPECT_EQ(report.rounded[0].steps->num_off_by_one, 1);
  EXPECT_THAT(
      report_on(graph, with_attribute(graph, 1, "quant_min", Attribute(-126))).error_message,
      HasSubstr("'n1' (quantized_decomposed.choose_qparams.tensor): "));
}

// A product of matrices in float8, as torchao's activations have it.
EagerGraph float8_graph() {
  at::manual_seed(0);
  EagerGraph graph;
  V x = graph.input("x", at::rand({16, 32}).sub(0.5));
  const V weight = graph.weight("w", at::rand({16, 32}).to(at::kFloat8_e4m3fn));
  const V one = graph.weight("one", at::ones({}));
  x = graph.call1("aten.div.Scalar", {x, Attribute(0.002)});
  x = graph.call1("aten.to.dtype", {x, Attribute(at::kFloat8_e4m3fn)});
  const V transposed = graph.call1("aten.t.default", {weight});
  graph.output(graph.call1("aten._scaled_mm.default",
                           {x, transposed, one, one, {}, {}, Attribute(at::kFloat)}));
  return graph;
}

TEST(Rounding, ProductsOfFloat8AreExactInFloat64AndAWrongScaleIsNoticed) {
  EagerGraph graph;
  try {
    graph = float8_graph();
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), HasSubstr("could not create a primitive descriptor"));
    GTEST_SKIP() << "LibTorch cannot multiply float8 on this processor";
  }
  EXPECT_LT(float64_distances(expecting(graph, graph.expected())).at(0).value(), 1e-6);
  for (const double scale : {0.002, 0.002 * (1 + 1e-7), 0.00202}) {
    const VerificationReport report =
        report_on(graph, with_attribute(graph, 0, "other", Attribute(scale)));
    EXPECT_EQ(report.is_valid, scale < 0.00201) << report.error_message;
  }
}

// Picks a row of a table by the greatest of the sums x + d.
TEST(RoundingTest, AnIndexIsRightIfItsValueIsNearEnough) {
  EagerGraph graph;
  const V x = graph.input("x", at::tensor({1.0F, 1.00000012F}));
  const V d = graph.weight("d", at::tensor({2.4e-7F, 0.0F}));
  const V index =
      graph.call1("aten.argmax.default", {graph.call1("aten.add.Tensor", {x, d}), Attribute(0)});
  const V table = graph.weight("table", at::tensor({1.0F, 2.0F}));
  graph.output(graph.call1("aten.index_select.default", {table, Attribute(0), index}));
  IR executed = graph.ir;
  executed.nodes[0].op_type = "aten.sub.Tensor";
  const VerificationReport report = report_on(graph, executed);
  EXPECT_TRUE(report.is_valid) << report.error_message;
  EXPECT_EQ(report.passed_by, Basis::kOwnError);
  EXPECT_EQ(report.rounded.at(0).node, "n1");
  EXPECT_EQ(report.rounded.at(0).steps->num_off_by_more, 1);
  EXPECT_EQ(report.rounded.at(0).problem, "");
}

TEST(RoundingTest, AnOutputOfIndicesIsJudgedByTheArithmetic) {
  const auto in_float16 = [](float third) {
    const EagerGraph graph =
        chain(at::tensor({2.0F, 2.0005F, third}), {{"aten.relu.default"}, {"aten.argmax.default"}});
    return judged(graph, {at::tensor({int64_t{2}}).squeeze()},
                  {.reference = kAuto, .arithmetic = Arithmetic::kFloat16});
  };
  EXPECT_TRUE(in_float16(2.0003F).is_valid);
  const VerificationReport wrong = in_float16(1);
  EXPECT_FALSE(wrong.is_valid);
  EXPECT_THAT(wrong.output_details.at(0).problem, HasSubstr("index 2 at [], expected 0"));
}

// Elements of the product differ from float64 by more than the tolerance.
TEST(JudgeRun, TakesAModelThatIsAsNearToFloat64AsTheGraph) {
  at::manual_seed(0);
  EagerGraph graph;
  const V x = graph.input("x", at::randn({16, 1024}).mul(100));
  graph.output(graph.call1("aten.matmul.default", {x, graph.weight("w", at::randn({1024, 16}))}));
  const at::Tensor eager = graph.expected()[0];
  const at::Tensor exact =
      at::matmul(graph.inputs[0].to(at::kDouble), graph.weights["w"].to(at::kDouble));
  // By how much further the model is from float64 than eager.
  for (const double factor : {1, -3, -5}) {
    const Case content = expecting(graph, {exact.add(eager.sub(exact).mul(factor)).to(at::kFloat)});
    const VerificationReport report =
        judge_run({.graph_case = content,
                   .outputs = content.expected,
                   .rerun = [](const auto&) { return std::vector<at::Tensor>(); },
                   .run_eagerly = [&] { return std::vector<at::Tensor>{eager}; },
                   .proves_graph = true},
                  {.by_dtype = true}, {.reference = kAuto});
    EXPECT_EQ(report.is_valid, factor != -5) << report.error_message;
  }
}

TEST(JudgeRun, JudgesEachOutput) {
  EagerGraph graph;
  const V a = graph.input("a", at::randn({8, 64}));
  const V b = graph.weight("b", at::randn({64, 8}));
  const V product = graph.call1("aten.matmul.default", {a, b});
  graph.output(product);
  graph.output(graph.call1("aten.argmax.default", {product, 1}));
  const std::vector<at::Tensor> eager = graph.expected();
  const at::Tensor rough = at::matmul(graph.inputs[0].to(at::kBFloat16).to(at::kFloat),
                                      graph.weights["b"].to(at::kBFloat16).to(at::kFloat));
  const VerificationReport report = judged(graph, {rough, eager[1]});
  EXPECT_THAT(report.output_details[0].problem, HasSubstr("; an RMS error of "));
  EXPECT_THAT(report.output_details[0].problem, HasSubstr(" times eager's; the limit is 4"));
  EXPECT_EQ(report.output_details[1].problem, "");
}

TEST(JudgeRun, SaysWhatFloat64CannotTell) {
  const EagerGraph graph = chain(at::ones({4}), {{"aten.rand_like.default"}});
  for (const ReferenceKind reference : {kAuto, kFloat64}) {
    const VerificationReport report = judged(graph, {at::full({4}, 2.0)}, {reference});
    EXPECT_THAT(report.error_message, HasSubstr("; judged by the tolerance alone: node 'n0' "
                                                "(aten.rand_like.default) draws random numbers"));
    EXPECT_THAT(cause_text(report.output_details.at(0)),
                HasSubstr("; judged by the tolerance alone: node 'n0' "));
  }
  // The tolerance decides.
  EXPECT_TRUE(judged(graph, graph.expected(), {kFloat64}).is_valid);
}

TEST(JudgeRun, NeverTakesUnequalIntegersForRight) {
  const EagerGraph graph =
      chain(at::full({4}, int64_t{1} << 60, at::kLong), {{"aten.floor.default"}});
  // They are whole numbers that no step explains.
  EXPECT_THAT(rounded_values(*graph.program()), IsEmpty());
  for (const ReferenceKind reference : {kAuto, kFloat64}) {
    const VerificationReport report = judged(graph, {graph.expected()[0] + 100}, {reference});
    EXPECT_FALSE(report.is_valid);
    EXPECT_THAT(report.error_message,
                HasSubstr("1152921504606847076, expected 1152921504606846976"));
  }
}

// In float32 it is another function than in float64.
const bool registered_sinh = [] {
  register_executor("aten.sinh.default", [](const OpNode&, const std::vector<at::Tensor>& inputs) {
    const bool is_wide = inputs[0].scalar_type() == at::kDouble;
    return std::vector<at::Tensor>{is_wide ? inputs[0].sinh() : inputs[0].mul(2)};
  });
  return true;
}();

TEST(JudgeRun, AnErrorOfEagerThatIsNoRoundingExcusesNothing) {
  const EagerGraph graph = chain(at::tensor({0.5F, 1.0F, 1.5F}), {{"aten.sinh.default"}});
  const at::Tensor eager = graph.inputs[0].mul(2);
  const auto with = [&](double error) {
    return judged_by({eager}, graph, {eager.add(error)}, {kFloat64});
  };
  EXPECT_TRUE(with(1e-7).is_valid);
  EXPECT_THAT(with(0.1).error_message, HasSubstr("; judged by the tolerance alone: eager operators "
                                                 "are further from float64 than roundings "
                                                 "explain, by 0.87"));
}

// The last digits of larger values make up the whole result.
TEST(JudgeRun, RoundingsOfLargerValuesExplainALargeError) {
  const EagerGraph graph =
      chain(at::tensor({1.0F, 0.5F}), {{"aten.add.Scalar", {1e8}}, {"aten.sub.Scalar", {1e8}}});
  EXPECT_TRUE(judged(graph, {at::tensor({8.0F, 0.0F})}).is_valid);
  EXPECT_FALSE(judged(graph, {at::tensor({800.0F, 0.0F})}).is_valid);
}

// As where LibTorch's product of int8 overflows.
TEST(JudgeRun, SaysThatTheModelItselfIsFarFromFloat64) {
  EagerGraph graph;
  const V x = graph.input("x", at::full({8, 64}, 3, at::kChar));
  const V product = graph.call1("aten._int_mm.default",
                                {x, graph.weight("weight", at::full({64, 16}, 2, at::kChar))});
  graph.output(graph.call1("aten.mul.Scalar", {product, 0.5}));
  const at::Tensor right = at::full({8, 16}, 192.0F);
  for (const bool is_right : {true, false}) {
    const std::vector<at::Tensor> outputs = {is_right ? right : right.mul(0.9)};
    const VerificationReport report = judged_by(outputs, graph, outputs, {kAuto});
    EXPECT_TRUE(report.is_valid);
    EXPECT_EQ(report.reference_note,
              is_right ? ""
                       : "the model itself is far from float64: by 0.1 at its output 'n1', so do "
                         "not take what it computes on this machine for right");
  }
}

// A counter that nodes write to in place, and a value that is written to after it was made.
TEST(JudgeRun, JudgesOutputsAsTheyAreInTheEnd) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({64}).mul(1000));
  const V copy = graph.call1("aten.mul.Scalar", {x, 3.0});
  const V half = graph.call1("aten.slice.Tensor", {copy, 0, 0, 32});
  graph.call1("aten.exp_.default", {graph.call1("aten.mul_.Scalar", {half, 1e-3})});
  graph.output(copy);
  const at::Tensor right = graph.expected()[0];
  EXPECT_TRUE(judged(graph, {right}, {kFloat64}).is_valid);
  EXPECT_FALSE(judged(graph, {right * 1.001}).is_valid);
}

// A line of --tolerances: no tolerance, no number of outputs, no shape is excused by it.
TEST(JudgeRun, AgreedThresholdsDecideAlone) {
  const EagerGraph graph = chain(at::ones({4}), {{"aten.relu.default"}});
  const auto report_on_outputs = [&](const std::vector<at::Tensor>& outputs) {
    return judged(graph, outputs,
                  {.agreed = Threshold{.place = "list.txt:3", .signal_to_noise = 40}});
  };
  EXPECT_TRUE(report_on_outputs({at::full({4}, 1.005)}).is_valid);
  const VerificationReport far = report_on_outputs({at::full({4}, 1.02)});
  EXPECT_FALSE(far.is_valid);
  EXPECT_THAT(far.error_message, HasSubstr("expected at least 40 (list.txt:3)"));
  EXPECT_FALSE(report_on_outputs({}).is_valid);
  EXPECT_FALSE(report_on_outputs({at::ones({5})}).is_valid);
}

}  // namespace
}  // namespace torch_ir
