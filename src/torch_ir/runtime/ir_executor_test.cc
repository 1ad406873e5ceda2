#include "torch_ir/runtime/ir_executor.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "torch_ir/base/error.h"
#include "torch_ir/runtime/testing/eager_graph.h"
#include "torch_ir/weights/safetensors.h"

namespace torch_ir {
namespace {

using ::testing::ThrowsMessage;

EagerGraph masked_graph() {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 4}));
  const V y = graph.call1("aten.linear.default", {x, graph.weight("weight", at::randn({4, 4}))});
  graph.output(graph.call1("aten.mul.Tensor", {y, graph.weight("mask", at::ones({4}))}));
  return graph;
}

std::string weights_file(const StateDict& weights) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/weights.safetensors";
  save_weights_safetensors(weights, path);
  return path;
}

TEST(IRExecutor, NeedsWeightsAndUsesThoseLoadedLast) {
  const EagerGraph graph = masked_graph();
  IRExecutor executor(graph.ir);
  EXPECT_EQ(execution_error([&] { executor.execute(graph.inputs); }),
            "Weights not loaded. Call load_weights() or load_weights_from_state_dict() first.");
  executor.load_weights_from_state_dict(graph.weights);
  EXPECT_TRUE(same_bits(executor.execute(graph.inputs).at(0), graph.expected()[0]));
  StateDict others = graph.weights;
  others["mask"] = at::zeros({4});
  executor.load_weights_from_state_dict(others);
  EXPECT_TRUE(same_bits(executor.execute(graph.inputs).at(0).abs(), at::zeros({2, 4})));
  executor.load_weights(weights_file(graph.weights));
  EXPECT_TRUE(same_bits(executor.execute(graph.inputs).at(0), graph.expected()[0]));
  EXPECT_THROW(executor.load_weights("no such file"), Error);
}

TEST(IRExecutor, RunsWithOptions) {
  const EagerGraph graph = masked_graph();
  const ExecutionOptions options{.optimization = Optimization::kFast, .device = c10::kCPU};
  IRExecutor executor(graph.ir, graph.weights, StateDict(), options);
  const at::Tensor expected = graph.expected()[0];
  EXPECT_TRUE(at::allclose(executor.execute(graph.inputs).at(0), expected, 1e-4, 1e-4));
  const at::Tensor once =
      execute_ir(graph.ir, graph.inputs, {.weights = graph.weights, .execution = options}).at(0);
  EXPECT_TRUE(at::allclose(once, expected, 1e-4, 1e-4));
}

TEST(IRExecutor, FollowsWeightsThatChange) {
  EagerGraph graph = masked_graph();
  IRExecutor executor(graph.ir, graph.weights);
  executor.execute(graph.inputs);
  graph.weights["mask"].zero_();
  EXPECT_TRUE(same_bits(executor.execute(graph.inputs).at(0).abs(), at::zeros({2, 4})));
}

TEST(ExecuteIr, RunsWithWeightsOrTheirFile) {
  const EagerGraph graph = masked_graph();
  ExecuteOptions options;
  EXPECT_THAT(
      [&] { execute_ir(graph.ir, graph.inputs, options); },
      ThrowsMessage<std::invalid_argument>("Either weights or weights_path must be provided"));
  options.weights_path = weights_file(graph.weights);
  EXPECT_TRUE(same_bits(execute_ir(graph.ir, graph.inputs, options).at(0), graph.expected()[0]));
  options = {.weights = graph.weights};
  EXPECT_TRUE(same_bits(execute_ir(graph.ir, graph.inputs, options).at(0), graph.expected()[0]));
}

TEST(ExecuteIr, NamesAMissingConstant) {
  const EagerGraph graph = masked_graph();
  ExecuteOptions options{.weights = StateDict{{"weight", graph.weights["weight"]}}};
  EXPECT_EQ(execution_error([&] { execute_ir(graph.ir, graph.inputs, options); }),
            "Weight/input 'p_mask' not found in registry for node 'n1'.");
  options.constants = StateDict{{"mask", graph.weights["mask"]}};
  EXPECT_TRUE(same_bits(execute_ir(graph.ir, graph.inputs, options).at(0), graph.expected()[0]));
}

TEST(TensorRegistry, KeepsTensorsByName) {
  TensorRegistry registry;
  EXPECT_FALSE(registry.has("x"));
  EXPECT_EQ(registry.get("x"), std::nullopt);
  registry.set("x", at::ones({1}));
  registry.set("x", at::ones({2}));
  EXPECT_TRUE(registry.has("x"));
  EXPECT_EQ(registry.get("x")->size(0), 2);
  registry.clear();
  EXPECT_FALSE(registry.has("x"));
}

}  // namespace
}  // namespace torch_ir
