// Models that fail in further ways, fail on some inputs only, or have registered how they fail, for
// the tests of the runner.

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/rand_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <signal.h>
#include <spawn.h>
#include <sysexits.h>
#include <torch/nn/module.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include "harness/run/test_models.h"
#include "torch_ir/registry/registry.h"

extern char** environ;

namespace torch_ir {
namespace {

using Forward = std::function<at::Tensor(const at::Tensor&)>;

void add(const std::string& name, Forward forward, ModelSpec spec = {}) {
  spec.inputs = {{.shape = {2, 3}}};
  spec.categories = {"runner"};
  register_model(name, std::move(spec), [forward] {
    return Model(ModelFn([forward](const std::vector<at::Tensor>& inputs) {
      return std::vector<at::Tensor>{forward(inputs.at(0))};
    }));
  });
}

// One more than the graph says, where `is_wrong` is true of an element.
Forward wrong_where(std::function<at::Tensor(const at::Tensor&)> is_wrong) {
  return [is_wrong](const at::Tensor& x) {
    return x.is_meta() ? x + 1 : x + 1 + is_wrong(x).to(x.scalar_type());
  };
}

at::Tensor always(const at::Tensor& x) { return at::abs(x) >= 0; }

at::Tensor allocate(const at::Tensor& x, int64_t bytes) {
  return x.is_meta() ? x + 1 : x + at::empty({bytes}, at::kByte).select(0, 0);
}

// Touches all the memory that there is.
at::Tensor grow(const at::Tensor& x) {
  std::vector<at::Tensor> kept;
  while (!x.is_meta()) kept.push_back(at::zeros({1 << 22}) + 1);
  return x + 1;
}

// Starts a process that outlives this one if it may, in a session of its own, notes its number in
// the file that the environment names, and can be ended by SIGKILL only. The harness gets the
// signal that the environment names.
at::Tensor hold_on(const at::Tensor& x) {
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGTERM, SIG_IGN);
  const char* sleep[] = {"setsid", "sleep", "600", nullptr};
  pid_t pid = 0;
  if (::posix_spawnp(&pid, "setsid", nullptr, nullptr, const_cast<char**>(sleep), environ) != 0) {
    std::abort();
  }
  const std::string path = std::getenv("PID_FILE");
  std::ofstream(path + ".tmp") << pid;
  if (::rename((path + ".tmp").c_str(), path.c_str()) != 0) std::abort();
  signal_harness(std::atoi(std::getenv("SIGNAL")));
  for (volatile bool forever = true; forever;) {
  }
  return x;
}

// Changes a buffer of its own with each call.
struct CounterImpl : torch::nn::Module {
  CounterImpl() : count(register_buffer("count", at::zeros({1}))) {}
  at::Tensor forward(const at::Tensor& x) {
    count.add_(1);
    return x + count;
  }
  at::Tensor count;
};
TORCH_MODULE(Counter);
REGISTER_MODEL(Counter, {.inputs = {{.shape = {2, 3}}}, .categories = {"runner"}});

const bool runner_models_registered = [] {
  add("Trains", [](const at::Tensor& x) { return at::dropout(x, 0.5, true); });
  add("ReadsData", [](const at::Tensor& x) { return x + x.sum().item<float>(); });
  add("NeedsTooMuch", [](const at::Tensor& x) { return allocate(x, int64_t{1} << 58); });
  add("Grows", grow);
  add("HoldsOn", hold_on);
  add("ExitsAsADisk", [](const at::Tensor& x) {
    if (!x.is_meta()) std::_Exit(EX_IOERR);
    return x + 1;
  });
  add("ExitsAtTheEnd", [](const at::Tensor& x) {
    if (!x.is_meta()) std::atexit([] { std::_Exit(3); });
    return x + 1;
  });
  add("Draws", [](const at::Tensor& x) { return x + at::rand_like(x); });
  add("WrongOnOnes", wrong_where([](const at::Tensor& x) { return x == 1; }));
  add("WrongOnLarge", wrong_where([](const at::Tensor& x) { return at::abs(x) > 100; }));
  add("ReadsOutside", [](const at::Tensor& x) {
    return x.flatten().index_select(0, x.flatten().abs().to(at::kLong));
  });
  add("Bits", [](const at::Tensor& x) { return x.view(at::kInt); });
  // Two branches of three nodes each, one after the other.
  add("Branches", [](const at::Tensor& x) {
    const at::Tensor left = x.neg().sin().abs();
    return left * x.cos().exp().tanh();
  });
  add("Overflows", [](const at::Tensor& x) { return x.exp() - x.exp(); });
  add("Loose", wrong_where(always), {.tolerance = Tolerance{.rtol = 0, .atol = 2}});
  add("LooseOutput", wrong_where(always), {.output_tolerances = {{0, {.rtol = 0, .atol = 2}}}});
  // The graph looks up one token, the model the next.
  const Forward wrong_index = [](const at::Tensor& x) {
    return at::zeros_like(x, at::kLong) + (x.is_meta() ? 50'000 : 50'001);
  };
  add("WrongIndex", wrong_index, {.tolerance = Tolerance{.rtol = 1, .atol = 1}});
  add("LooseIndex", wrong_index, {.output_tolerances = {{0, {.rtol = 0, .atol = 1}}}});
  const ExpectedFailure known{.kind = FailureKind::kOutputMismatch, .reason = "known"};
  add("KnownWrong", wrong_where(always), {.expected_failure = known});
  add("MendedSince", [](const at::Tensor& x) { return x + 1; }, {.expected_failure = known});
  return true;
}();

}  // namespace
}  // namespace torch_ir
