#include "harness/run/testing/test_models.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>
#include <signal.h>
#include <torch/nn/modules/linear.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "harness/process/child_process.h"

namespace torch_ir {

void signal_harness(int signal) {
  for (const ProcessState& it : list_processes()) {
    if (it.process == ::getppid()) ::kill(it.parent, signal);
  }
}

void register_test_model(const std::string& name, const std::string& category,
                         std::function<at::Tensor(const at::Tensor&)> forward, ModelSpec spec) {
  spec.inputs = {{.shape = {2, 3}}};
  spec.categories = {category};
  spec.description = name;
  register_model(name, std::move(spec), [forward] {
    return Model(ModelFn([forward](const std::vector<at::Tensor>& inputs) {
      return std::vector<at::Tensor>{forward(inputs.at(0))};
    }));
  });
}

namespace {

// Misbehaves only when the model runs on data, not when the graph is captured.
at::Tensor on_data(const at::Tensor& x, const std::function<void()>& misbehave) {
  if (!x.is_meta()) misbehave();
  return x + 1;
}

at::Tensor hang(const at::Tensor& x) {
  for (volatile bool forever = true; forever;) {
  }
  return x;
}

const bool registered = [] {
  register_test_model("Good", "good", [](const at::Tensor& x) { return x + 1; });
  // A weight of four terabytes.
  register_model(
      "Vast", {.inputs = {{.shape = {1, 1 << 20}}}, .categories = {"vast"}, .scale = Scale::kFull},
      [] { return Model(torch::nn::Linear(1 << 20, 1 << 20)); });
  register_test_model("Close", "good",
                      [](const at::Tensor& x) { return x + (x.is_meta() ? 1.0 : 1.000005); });
  register_test_model("Wrong", "bad",
                      [](const at::Tensor& x) { return x + (x.is_meta() ? 1.0 : 2.0); });
  // Its output is right.
  register_test_model("WrongInside", "inside",
                      [](const at::Tensor& x) { return (x + (x.is_meta() ? 1.0 : 2.0)) * 0; });
  register_test_model("Doubled", "inside", [](const at::Tensor& x) { return (x + 1.0) * 2; });
  // Its squares are infinite in float16, but not its result.
  register_test_model("LargeSquares", "large", [](const at::Tensor& x) {
    return x / ((x * 1000 + 2000) * (x * 1000 + 2000) + 1).sqrt();
  });
  register_test_model("Throws", "bad", [](const at::Tensor&) -> at::Tensor {
    throw std::runtime_error("no | forward\nsecond line");
  });
  register_test_model("ThrowsOnData", "bad", [](const at::Tensor& x) {
    return on_data(x, [] { throw std::runtime_error("no data, please"); });
  });
  register_test_model("Mismatch", "bad", [](const at::Tensor& x) {
    return x.is_meta() ? x + 1 : x + at::zeros({2, 2, 3});
  });
  register_test_model("Aborts", "crash", [](const at::Tensor&) -> at::Tensor {
    std::fputs("last words\n", stderr);
    std::abort();
  });
  register_test_model("AbortsOnData", "crash",
                      [](const at::Tensor& x) { return on_data(x, [] { std::abort(); }); });
  register_test_model("Exits", "crash",
                      [](const at::Tensor& x) { return on_data(x, [] { std::_Exit(0); }); });
  register_test_model("Hangs", "hang", [](const at::Tensor& x) { return hang(x); });
  register_test_model("Interrupts", "hang", [](const at::Tensor& x) {
    signal_harness(SIGINT);
    return hang(x);
  });
  return true;
}();

}  // namespace
}  // namespace torch_ir
