#include "torch_ir/verifier/rounding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>

#include "torch_ir/runtime/testing/eager_graph.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;

constexpr double kScale = 0.05;

// Quantizes, dequantizes and multiplies matrices, twice: a value after the second quantise node
// differs by a step if the product is rounded differently.
struct QuantizedGraph {
  QuantizedGraph() {
    at::manual_seed(0);
    V value = graph.input("x", at::rand({64, 32}).sub(0.5).mul(6));
    const V weight = graph.weight("w", at::rand({32, 32}).sub(0.5));
    for (int i = 0; i < 2; ++i) {
      value = graph.call1("quantized_decomposed.quantize_per_tensor.default",
                          arguments(value, /*zero_point=*/3));
      value = graph.call1("quantized_decomposed.dequantize_per_tensor.default",
                          arguments(value, /*zero_point=*/3));
      if (i == 0) value = graph.call1("aten.matmul.default", {value, weight});
    }
    graph.output(value);
  }

  static std::vector<EagerArgument> arguments(const V& value, int64_t zero_point) {
    return {value,           Attribute(kScale), Attribute(zero_point),
            Attribute(-128), Attribute(127),    Attribute(at::kChar)};
  }

  // The outputs of an executor that runs `executed` in place of the graph.
  VerificationReport verify(const IR& executed) const {
    VerificationReport report =
        compare_outputs(run(executed), graph.expected(), {}, {.by_dtype = true});
    add_second_opinions(
        report,
        second_opinions(graph.ir, graph.weights, graph.inputs, run(executed), graph.expected()),
        {.reference = ReferenceKind::kAuto});
    add_rounding(report, check_rounding(graph.ir, graph.weights, graph.inputs, run(executed),
                                        run(with_rounded_values(executed)), {.by_dtype = true},
                                        kDefaultErrorFactor));
    return report;
  }

  std::vector<at::Tensor> run(const IR& executed) const {
    return eager_outputs(executed, graph.weights, graph.inputs);
  }

  EagerGraph graph;
};

TEST(Rounding, FindsTheNodesThatRound) {
  const QuantizedGraph quantized;
  EXPECT_TRUE(rounds(quantized.graph.ir));
  EXPECT_TRUE(rounds(quantized.graph.ir.nodes[0]));
  EXPECT_FALSE(rounds(quantized.graph.ir.nodes[1]));
  const IR extended = with_rounded_values(quantized.graph.ir);
  ASSERT_EQ(extended.graph_outputs.size(), 3u);
  EXPECT_EQ(extended.graph_outputs[1].name, "n0");
  EXPECT_EQ(extended.graph_outputs[2].name, "n3");
}

TEST(Rounding, IntegersAreWholeNumbersThatNoStepExplains) {
  EagerGraph graph;
  const V x = graph.input("x", at::full({4}, int64_t{1} << 60, at::kLong));
  graph.output(graph.call1("aten.floor.default", {x}));
  EXPECT_FALSE(rounds(graph.ir));
  const std::vector<at::Tensor> wrong = {graph.expected()[0] + 100};
  EXPECT_NE(check_rounding(graph.ir, graph.weights, graph.inputs, wrong, wrong, {.by_dtype = true},
                           kDefaultErrorFactor)
                .problem,
            "");
}

TEST(Rounding, AStepThatARoundingErrorExplainsIsRight) {
  QuantizedGraph quantized;
  // An input between two steps: the last digit decides.
  at::Tensor& x = quantized.graph.inputs[0];
  x.select(0, 0).fill_(2.5 * kScale);
  IR executed = quantized.graph.ir;
  executed.nodes[0].attrs.set("scale", Attribute(kScale * (1 - 1e-7)));
  const RoundingReport report = check_rounding(
      quantized.graph.ir, quantized.graph.weights, quantized.graph.inputs, quantized.run(executed),
      quantized.run(with_rounded_values(executed)), {.by_dtype = true}, kDefaultErrorFactor);
  EXPECT_EQ(report.problem, "");
  ASSERT_EQ(report.values.size(), 1u);
  EXPECT_EQ(report.values[0].node, "n0");
  EXPECT_EQ(report.values[0].num_off_by_one, 32);
  EXPECT_EQ(report.values[0].num_off_by_more, 0);
  EXPECT_EQ(report.values[0].num_wrong, 0);
}

TEST(Rounding, AWrongScaleIsNoticed) {
  for (const size_t node : {0, 3}) {
    const QuantizedGraph quantized;
    IR executed = quantized.graph.ir;
    executed.nodes[node].attrs.set("scale", Attribute(kScale * 1.01));
    const VerificationReport report = quantized.verify(executed);
    EXPECT_FALSE(report.is_valid);
    EXPECT_THAT(report.rounding->problem,
                HasSubstr("'" + executed.nodes[node].name +
                          "' (quantized_decomposed.quantize_per_tensor.default): "));
    EXPECT_THAT(report.rounding->problem, HasSubstr("which rounding does not explain"));
  }
}

TEST(Rounding, AWrongZeroPointIsNoticed) {
  for (const size_t node : {0, 3}) {
    const QuantizedGraph quantized;
    IR executed = quantized.graph.ir;
    executed.nodes[node].attrs.set("zero_point", Attribute(4));
    const VerificationReport report = quantized.verify(executed);
    EXPECT_FALSE(report.is_valid);
    ASSERT_FALSE(report.rounding->values.empty());
    EXPECT_EQ(report.rounding->values[0].node, executed.nodes[node].name);
    EXPECT_GT(report.rounding->values[0].num_off_by_one, 900);
  }
}

TEST(Rounding, WhatIsComputedFromRoundedValuesIsComparedToo) {
  const QuantizedGraph quantized;
  IR executed = quantized.graph.ir;
  executed.nodes[4].attrs.set("scale", Attribute(kScale * 1.01));
  const VerificationReport report = quantized.verify(executed);
  EXPECT_FALSE(report.is_valid);
  EXPECT_THAT(report.rounding->problem,
              HasSubstr("recomputed from the executor's rounded values, output 0"));
}

TEST(Rounding, OutputsThatOnlyStepsExplainPassByRounding) {
  const QuantizedGraph quantized;
  VerificationReport report =
      compare_outputs({quantized.graph.expected()[0].add(kScale)}, quantized.graph.expected(), {});
  EXPECT_EQ(report.passed_by, Basis::kNone);
  add_rounding(report, {.values = {{.num_off_by_one = 1}}});
  EXPECT_TRUE(report.is_valid);
  EXPECT_EQ(report.passed_by, Basis::kRounding);
  add_rounding(report, {.problem = "all are wrong"});
  EXPECT_FALSE(report.is_valid);
  EXPECT_THAT(report.error_message, HasSubstr("; all are wrong"));
}

// Chooses a scale of about 1 and a zero point between -28 and -27, and quantizes with them.
struct DynamicGraph {
  DynamicGraph() {
    const std::vector<EagerArgument> range = {Attribute(-128), Attribute(127)};
    const Attribute dtype(at::kChar);
    V x = graph.input("x", at::tensor({-100.5, 3.0, 154.5}, at::kFloat));
    x = graph.call1("aten.add.Scalar", {x, Attribute(0.0)});
    const std::vector<V> chosen = graph.call("quantized_decomposed.choose_qparams.tensor",
                                             {x, range[0], range[1], Attribute(1e-5), dtype});
    for (const char* op : {"quantize_per_tensor", "dequantize_per_tensor"}) {
      x = graph.call1(std::string("quantized_decomposed.") + op + ".tensor",
                      {x, chosen[0], chosen[1], range[0], range[1], dtype});
    }
    graph.output(x);
  }

  // The rounded values of an executor that adds `difference` and chooses values from `quant_min`
  // on.
  RoundingReport check(double difference, int64_t quant_min) const {
    IR executed = graph.ir;
    executed.nodes[0].attrs.set("other", Attribute(difference));
    executed.nodes[1].attrs.set("quant_min", Attribute(quant_min));
    const auto run = [&](const IR& ir) { return eager_outputs(ir, graph.weights, graph.inputs); };
    return check_rounding(graph.ir, graph.weights, graph.inputs, run(executed),
                          run(with_rounded_values(executed)), {.by_dtype = true},
                          kDefaultErrorFactor);
  }

  EagerGraph graph;
};

TEST(Rounding, AZeroPointMayBeOffByOneWhereARoundingErrorDecidesIt) {
  const RoundingReport report = DynamicGraph().check(-1.5e-5, -128);
  EXPECT_EQ(report.problem, "");
  ASSERT_FALSE(report.values.empty());
  EXPECT_EQ(report.values[0].node, "n1");
  EXPECT_EQ(report.values[0].num_off_by_one, 1);
}

TEST(Rounding, AWrongZeroPointOfDynamicQuantizationIsNoticed) {
  EXPECT_THAT(DynamicGraph().check(0, -126).problem,
              HasSubstr("'n1' (quantized_decomposed.choose_qparams.tensor): "));
}

// A product of matrices in float8, as torchao's activations have it.
struct Float8Graph {
  Float8Graph() {
    at::manual_seed(0);
    V x = graph.input("x", at::rand({16, 32}).sub(0.5));
    const V weight = graph.weight("w", at::rand({16, 32}).to(at::kFloat8_e4m3fn));
    const V one = graph.weight("one", at::ones({}));
    x = graph.call1("aten.div.Scalar", {x, Attribute(0.002)});
    x = graph.call1("aten.to.dtype", {x, Attribute(at::kFloat8_e4m3fn)});
    const V transposed = graph.call1("aten.t.default", {weight});
    graph.output(graph.call1("aten._scaled_mm.default",
                             {x, transposed, one, one, {}, {}, Attribute(at::kFloat)}));
  }
  EagerGraph graph;
};

TEST(Rounding, AWrongScaleOfFloat8IsNoticed) {
  const Float8Graph float8;
  const EagerGraph& graph = float8.graph;
  for (const double scale : {0.002, 0.002 * (1 + 1e-7), 0.00202}) {
    IR executed = graph.ir;
    executed.nodes[0].attrs.set("other", Attribute(scale));
    const auto run = [&](const IR& ir) { return eager_outputs(ir, graph.weights, graph.inputs); };
    const RoundingReport report =
        check_rounding(graph.ir, graph.weights, graph.inputs, run(executed),
                       run(with_rounded_values(executed)), {.by_dtype = true}, kDefaultErrorFactor);
    EXPECT_EQ(report.problem.empty(), scale < 0.00201) << report.problem;
  }
}

TEST(Rounding, ProductsOfFloat8HaveASecondOpinion) {
  const Float8Graph float8;
  const EagerGraph& graph = float8.graph;
  const std::vector<at::Tensor> eager = graph.expected();
  const SecondOpinion opinion =
      second_opinions(graph.ir, graph.weights, graph.inputs, eager, eager)[0];
  EXPECT_EQ(opinion.reason, "");
  EXPECT_LT(opinion.eager_error, 1e-6);
}

}  // namespace
}  // namespace torch_ir
