// LSTM layers at level `fast`, against LibTorch's.

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "torch_ir/executor/testing/eager_graph.h"

namespace torch_ir {
namespace {

struct LstmCase {
  int64_t steps = 7;
  int64_t batch = 1;
  int64_t units = 32;
  int layers = 1;
  bool has_biases = true;
  bool is_bidirectional = false;
  bool is_batch_first = false;
};

// Inputs of a `scale` of 100 saturate the gates.
EagerGraph lstm(const LstmCase& shape, double scale) {
  constexpr int64_t kInputs = 24;
  EagerGraph graph;
  const int64_t directions = shape.is_bidirectional ? 2 : 1;
  at::Tensor inputs = at::randn({shape.steps, shape.batch, kInputs}) * scale;
  if (shape.is_batch_first) inputs = inputs.transpose(0, 1).contiguous();
  const V x = graph.input("x", inputs);
  const std::vector<int64_t> state = {shape.layers * directions, shape.batch, shape.units};
  const VList states = {graph.input("h", at::randn(state)), graph.input("c", at::randn(state))};
  VList parameters;
  const auto add = [&](at::IntArrayRef sizes) {
    parameters.push_back(
        graph.weight("w" + std::to_string(parameters.size()), at::randn(sizes) / 4));
  };
  for (int64_t i = 0; i < shape.layers * directions; ++i) {
    add({4 * shape.units, i < directions ? kInputs : directions * shape.units});
    add({4 * shape.units, shape.units});
    if (shape.has_biases) add({4 * shape.units});
    if (shape.has_biases) add({4 * shape.units});
  }
  const std::vector<V> results = graph.call(
      "aten.lstm.input",
      {x, states, parameters, Attribute(shape.has_biases), Attribute(shape.layers), Attribute(0.0),
       Attribute(false), Attribute(shape.is_bidirectional), Attribute(shape.is_batch_first)});
  for (const V& result : results) graph.output(result);
  return graph;
}

TEST(LstmRules, RunLayersOfFewSequences) {
  if (!onednn_version()) GTEST_SKIP() << "built without oneDNN";
  for (const LstmCase& shape :
       {LstmCase{}, LstmCase{.units = 128}, LstmCase{.steps = 1}, LstmCase{.layers = 2},
        LstmCase{.has_biases = false}, LstmCase{.batch = 3}, LstmCase{.is_batch_first = true},
        LstmCase{.layers = 2, .is_bidirectional = true, .is_batch_first = true}}) {
    for (const double scale : {1.0, 100.0}) {
      const EagerGraph graph = lstm(shape, scale);
      EXPECT_EQ(difference_at_fast(graph), "")
          << shape.units << ' ' << shape.layers << ' ' << scale;
      const std::vector<std::string> calls = calls_at_fast(graph);
      EXPECT_EQ(std::ranges::count(calls, "torch_ir::lstm_layer"),
                shape.layers * (shape.is_bidirectional ? 2 : 1));
    }
  }
}

TEST(LstmRules, LeaveOtherLayers) {
  if (!onednn_version()) GTEST_SKIP() << "built without oneDNN";
  for (const LstmCase& shape : {LstmCase{.batch = 9}, LstmCase{.units = 20}}) {
    const EagerGraph graph = lstm(shape, 1);
    EXPECT_EQ(difference_at_fast(graph), "");
    EXPECT_EQ(std::ranges::count(calls_at_fast(graph), "torch_ir::lstm_layer"), 0);
  }
}

TEST(LstmRules, HandOnWhatIsNotANumber) {
  if (!onednn_version()) GTEST_SKIP() << "built without oneDNN";
  EagerGraph graph = lstm({}, 1);
  graph.inputs[0].view({-1})[40] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<at::Tensor> fast = fast_plan(graph).run(graph.inputs);
  const std::vector<at::Tensor> exact = compile(graph.ir, graph.weights).run(graph.inputs);
  for (size_t i = 0; i < fast.size(); ++i) {
    EXPECT_TRUE(at::allclose(fast[i], exact[i], 1e-4, 1e-4, /*equal_nan=*/true)) << i;
  }
  EXPECT_TRUE(fast[0].isnan().any().item<bool>());
}

}  // namespace
}  // namespace torch_ir
