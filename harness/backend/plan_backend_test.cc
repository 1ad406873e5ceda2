#include "harness/backend/plan_backend.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "torch_ir/converter/extract.h"

namespace torch_ir {
namespace {

IR adding(double number) {
  const auto forward = [number](const std::vector<at::Tensor>& inputs) {
    return std::vector<at::Tensor>{inputs.at(0) + number};
  };
  return extract_ir(Model(ModelFn(forward)), {at::ones({2})});
}

TEST(PlanBackendTest, RunsTheGraphThatItIsGivenEachTime) {
  PlanBackend backend{ExecutionOptions()};
  IR ir = adding(1);
  const auto run = [&](double x) {
    return backend.run(ir, StateDict(), {at::full({2}, x)}).at(0)[0].item<double>();
  };
  EXPECT_EQ(run(1), 2);
  EXPECT_EQ(run(5), 6);
  // Another graph in the same place.
  ir = adding(2);
  EXPECT_EQ(run(1), 3);
}

TEST(PlanBackendTest, RunsWithTheWeightsThatItIsGivenEachTime) {
  PlanBackend backend{ExecutionOptions()};
  IR ir = adding(1);
  TensorMeta& input = ir.nodes.at(0).inputs.at(0);
  input.name = "w";
  input.producer_node.reset();
  TensorMeta weight = ir.graph_inputs.at(0);
  weight.name = "w";
  ir.weights = {weight};
  StateDict weights;
  weights.insert("w", at::full({2}, 1.0));
  const auto run = [&] {
    return backend.run(ir, weights, {at::ones({2})}).at(0)[0].item<double>();
  };
  EXPECT_EQ(run(), 2);
  weights["w"] = at::full({2}, 3.0);
  EXPECT_EQ(run(), 4);
}

}  // namespace
}  // namespace torch_ir
