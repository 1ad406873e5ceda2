#include "harness/benchmark/benchmark_engines.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/stages/stages.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;

// The module's linear is a product and a sum, the graph's is one call, so the last bits may differ.
TEST(BenchmarkEngines, HaveAnEagerThatComputesWhatTheModelComputes) {
  const std::vector<RegisteredModel> models = list_models();
  EXPECT_GT(models.size(), 2u) << "the models of the registry are not linked";
  for (const RegisteredModel& model : models) {
    const ModelInstance instance = make_instance(model, 0);
    const Case graph_case = Case{.weights = instance.weights, .inputs = instance.inputs}.with(
        resolve(extract(model, instance)));
    const Engine eager(engine_kinds().front(), graph_case);
    std::vector<at::Tensor> outputs;
    eager.run(outputs);
    EXPECT_EQ(disagreement(outputs, run_eagerly(instance.model, instance.inputs),
                           /*has_eager_bits=*/false),
              "")
        << model.name;
  }
}

TEST(Disagreement, IsNoneOfEqualOutputs) {
  const at::Tensor ones = at::ones({3});
  EXPECT_EQ(disagreement({ones}, {ones.clone()}, /*has_eager_bits=*/true), "");
  EXPECT_EQ(disagreement({at::full({3}, 1.00005)}, {ones}, /*has_eager_bits=*/false), "");
}

TEST(Disagreement, AsksForTheBits) {
  const at::Tensor zero = at::zeros({1});
  EXPECT_THAT(disagreement({at::full({1}, -0.0)}, {zero}, /*has_eager_bits=*/true),
              HasSubstr("output 0 does not match eager's bit for bit: "));
  EXPECT_EQ(disagreement({at::full({1}, -0.0)}, {zero}, /*has_eager_bits=*/false), "");
}

TEST(Disagreement, SaysHowFarApartOutputsAre) {
  const at::Tensor ones = at::ones({1});
  EXPECT_THAT(disagreement({ones, at::full({1}, 1.5)}, {ones, ones}, /*has_eager_bits=*/false),
              HasSubstr("output 1 does not match eager's: "));
  EXPECT_THAT(disagreement({ones}, {at::ones({2})}, /*has_eager_bits=*/false),
              HasSubstr("shape [1], expected [2]"));
}

TEST(Disagreement, CountsOutputs) {
  EXPECT_EQ(disagreement({}, {at::ones({1})}, /*has_eager_bits=*/false),
            "wrong number of outputs: 0, expected 1");
}

}  // namespace
}  // namespace torch_ir
