// Recurrent layers at level `fast`, against LibTorch's.

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "torch_ir/fast/testing/fuse_trace_fixture.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

struct RecurrentCase {
  int64_t steps = 7;
  int64_t batch = 1;
  int64_t units = 32;
  int layers = 1;
  bool has_biases = true;
  bool is_bidirectional = false;
  bool is_batch_first = false;
};

// An LSTM or a GRU. Inputs of a `scale` of 100 saturate the gates.
EagerGraph recurrent(const RecurrentCase& shape, double scale, bool is_lstm) {
  constexpr int64_t kInputs = 24;
  EagerGraph graph;
  const int64_t directions = shape.is_bidirectional ? 2 : 1;
  at::Tensor inputs = at::randn({shape.steps, shape.batch, kInputs}) * scale;
  if (shape.is_batch_first) inputs = inputs.transpose(0, 1).contiguous();
  const V x = graph.input("x", inputs);
  const std::vector<int64_t> state = {shape.layers * directions, shape.batch, shape.units};
  const V hidden = graph.input("h", at::randn(state));
  EagerArgument states = hidden;
  if (is_lstm) states = VList{hidden, graph.input("c", at::randn(state))};
  const int64_t gates = is_lstm ? 4 : 3;
  VList parameters;
  const auto add = [&](at::IntArrayRef sizes) {
    parameters.push_back(
        graph.weight("w" + std::to_string(parameters.size()), at::randn(sizes) / 4));
  };
  for (int64_t i = 0; i < shape.layers * directions; ++i) {
    add({gates * shape.units, i < directions ? kInputs : directions * shape.units});
    add({gates * shape.units, shape.units});
    if (shape.has_biases) add({gates * shape.units});
    if (shape.has_biases) add({gates * shape.units});
  }
  const std::vector<V> results =
      graph.call(is_lstm ? "aten.lstm.input" : "aten.gru.input",
                 {x, states, parameters, shape.has_biases, shape.layers, 0.0, false,
                  shape.is_bidirectional, shape.is_batch_first});
  for (const V& result : results) graph.output(result);
  return graph;
}

constexpr const char* kLstmLayer = "torch_ir::lstm_layer";
constexpr const char* kGruStep = "torch_ir::gru_step";

// Also checks that our calls are `calls_per_layer` for each layer and direction.
void expect_own_calls(const RecurrentCase& shape, bool is_lstm, double scale,
                      int64_t calls_per_layer) {
  SCOPED_TRACE(fmt::format("{} units, {} layers, batch {}, scale {}", shape.units, shape.layers,
                           shape.batch, scale));
  const EagerGraph graph = recurrent(shape, scale, is_lstm);
  const int64_t count = calls_per_layer * shape.layers * (shape.is_bidirectional ? 2 : 1);
  EXPECT_EQ(fault_at_fast(graph, is_lstm ? kLstmLayer : kGruStep, count), "");
}

// The steps of many sequences begin with a product by oneDNN.
TEST_F(FuseTrace, RunsStepsOfAGru) {
  for (const RecurrentCase& shape :
       {RecurrentCase{}, RecurrentCase{.units = 128}, RecurrentCase{.layers = 2},
        RecurrentCase{.batch = 3}, RecurrentCase{.batch = 9, .units = 48},
        RecurrentCase{.is_batch_first = true},
        RecurrentCase{.layers = 2, .is_bidirectional = true}}) {
    for (const double scale : {1.0, 100.0}) {
      expect_own_calls(shape, /*is_lstm=*/false, scale, shape.steps);
    }
  }
  expect_own_calls({.units = 20}, /*is_lstm=*/false, 1, 0);
  expect_own_calls({.has_biases = false}, /*is_lstm=*/false, 1, 0);
}

TEST_F(FuseTrace, RunsLayersOfAnLstm) {
  for (const RecurrentCase& shape :
       {RecurrentCase{}, RecurrentCase{.units = 128}, RecurrentCase{.steps = 1},
        RecurrentCase{.layers = 2}, RecurrentCase{.has_biases = false}, RecurrentCase{.batch = 3},
        RecurrentCase{.batch = 9}, RecurrentCase{.is_batch_first = true},
        RecurrentCase{.layers = 2, .is_bidirectional = true, .is_batch_first = true},
        RecurrentCase{.batch = 16, .units = 48, .layers = 2, .is_bidirectional = true}}) {
    for (const double scale : {1.0, 100.0}) {
      expect_own_calls(shape, /*is_lstm=*/true, scale, 1);
    }
  }
  expect_own_calls({.units = 20}, /*is_lstm=*/true, 1, 0);
}

// A step whose gate is read elsewhere stays as it is.
TEST_F(FuseTrace, LeavesWhatIsReadBetween) {
  for (const bool is_read : {false, true}) {
    EagerGraph graph;
    const V h = graph.input("h", at::randn({1, 32}));
    const V gates =
        aten(graph, "mul.Tensor",
             {graph.input("g", at::randn({1, 96})), graph.weight("s", at::randn({96}))});
    const V product =
        aten(graph, "addmm",
             {graph.weight("b", at::randn({96})), h, graph.weight("w", at::randn({32, 96}) / 6)});
    const auto parts = [&](const V& whole) {
      return graph.call("aten.unsafe_chunk.default", {whole, 3, 1});
    };
    const std::vector<V> x = parts(gates);
    const std::vector<V> y = parts(product);
    for (const size_t i : {0, 1}) {
      graph.call("aten.add_.Tensor", {y[i], x[i]});
      graph.call("aten.sigmoid_.default", {y[i]});
    }
    graph.call("aten.mul_.Tensor", {y[2], y[0]});
    const V candidate = aten(graph, "add.Tensor", {x[2], y[2]});
    graph.call("aten.tanh_.default", {candidate});
    const V next = aten(graph, "sub.Tensor", {h, candidate});
    graph.call("aten.mul_.Tensor", {next, y[1]});
    graph.call("aten.add_.Tensor", {next, candidate});
    graph.output(next);
    if (is_read) graph.output(aten(graph, "cos", {y[0]}));
    EXPECT_EQ(fault_at_fast(graph, kGruStep, is_read ? 0 : 1), "");
  }
}

TEST_F(FuseTrace, HandsOnWhatIsNotANumber) {
  for (const bool is_lstm : {true, false}) {
    EagerGraph graph = recurrent({}, 1, is_lstm);
    graph.inputs[0].view({-1})[40] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<at::Tensor> fast = fast_plan(graph).run(graph.inputs);
    const std::vector<at::Tensor> exact = compile(graph.ir, graph.weights).run(graph.inputs);
    for (size_t i = 0; i < fast.size(); ++i) {
      EXPECT_TRUE(at::allclose(fast[i], exact[i], 1e-4, 1e-4, /*equal_nan=*/true)) << i;
    }
    EXPECT_TRUE(fast[0].isnan().any().item<bool>());
  }
}

}  // namespace
}  // namespace torch_ir
