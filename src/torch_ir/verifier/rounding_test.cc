#include "torch_ir/verifier/rounding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/rand.h>
#include <gmock/gmock.h>

#include "torch_ir/executor/testing/eager_graph.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;

constexpr double kScale = 0.05;

// Quantizes, dequantizes, multiplies matrices, and does so again: a value behind the second
// quantise node differs by a step where the product is rounded otherwise.
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

  // What an executor computes that runs `executed` in place of the graph.
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
              HasSubstr("given the values that the executor rounded, output 0"));
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

}  // namespace
}  // namespace torch_ir
