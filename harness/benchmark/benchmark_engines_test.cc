#include "harness/benchmark/benchmark_engines.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/stages/candidate.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/registry/registry.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;

const EngineKind& exact() { return engine_kinds()[1]; }
const EngineKind& fast() { return engine_kinds()[2]; }

// The module's linear is a product and a sum, the graph's is one call, so the last bits may differ.
TEST(BenchmarkEngines, HaveAnEagerThatComputesWhatTheModelComputes) {
  const std::vector<RegisteredModel> models = list_models();
  EXPECT_GT(models.size(), 2u) << "the models of the registry are not linked";
  for (const RegisteredModel& model : models) {
    const ModelInstance instance = make_instance(model, 0);
    Case graph_case = Case{.weights = instance.weights, .inputs = instance.inputs}.with(
        resolve(make_candidate(model, 0)->extract()));
    const Engine eager(engine_kinds().front(), graph_case);
    std::vector<at::Tensor> outputs;
    eager.run(outputs);
    const at::NoGradGuard no_grad;
    graph_case.expected = instance.model(instance.inputs);
    // State is not compared here.
    graph_case.expected.resize(outputs.size());
    EXPECT_EQ(disagreement(fast(), graph_case, outputs), "") << model.name;
  }
}

TEST(Disagreement, IsOfValuesOfBitsAndOfTheNumberOfOutputs) {
  const Case ones{.expected = {at::ones({3})}};
  EXPECT_EQ(disagreement(exact(), ones, {at::ones({3})}), "");
  EXPECT_EQ(disagreement(fast(), ones, {at::full({3}, 1.00005)}), "");
  EXPECT_EQ(disagreement(fast(), ones, {}), "0 outputs, expected 1");
  const Case zero{.expected = {at::zeros({1})}};
  EXPECT_THAT(disagreement(exact(), zero, {at::full({1}, -0.0)}),
              HasSubstr("output 0 does not match eager's bit for bit: "));
  EXPECT_EQ(disagreement(fast(), zero, {at::full({1}, -0.0)}), "");
}

// A value that lies between two steps may be rounded to either; other differences remain.
TEST(Disagreement, AcceptsWhatTheVerdictExplains) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({64, 512}));
  const V y =
      graph.call1("aten.linear.default", {x, graph.weight("w", at::randn({64, 512}) / 100)});
  const std::vector<EagerArgument> steps = {Attribute(0.005), Attribute(0), Attribute(-128),
                                            Attribute(127), Attribute(at::kChar)};
  V value = y;
  for (const char* name : {"quantize", "dequantize"}) {
    std::vector<EagerArgument> arguments = {value};
    arguments.insert(arguments.end(), steps.begin(), steps.end());
    value = graph.call1(fmt::format("quantized_decomposed.{}_per_tensor.default", name), arguments);
  }
  graph.output(value);
  Case graph_case = graph.as_case();
  graph_case.expected = graph.expected();
  std::vector<at::Tensor> outputs;
  Engine(fast(), graph_case).run(outputs);
  EXPECT_EQ(disagreement(fast(), graph_case, outputs), "");
  outputs[0] += 0.005;
  EXPECT_THAT(disagreement(fast(), graph_case, outputs), HasSubstr("elements mismatched"));
}

}  // namespace
}  // namespace torch_ir
