// Models and backends for the tests of the runner.

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand_like.h>
#include <ATen/ops/round.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <signal.h>
#include <spawn.h>
#include <sysexits.h>
#include <torch/nn/module.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/run/testing/test_models.h"
#include "torch_ir/base/error.h"
#include "torch_ir/registry/registry.h"

extern char** environ;

namespace torch_ir {
namespace {

using Forward = std::function<at::Tensor(const at::Tensor&)>;

void add(const std::string& name, Forward forward, ModelSpec spec = {}) {
  register_test_model(name, "runner", std::move(forward), std::move(spec));
}

// Unlike the captured graph, adds one if `is_wrong` holds.
Forward wrong_where(std::function<at::Tensor(const at::Tensor&)> is_wrong) {
  return [is_wrong](const at::Tensor& x) {
    return x.is_meta() ? x + 1 : x + 1 + is_wrong(x).to(x.scalar_type());
  };
}

at::Tensor always(const at::Tensor& x) { return at::abs(x) >= 0; }

at::Tensor allocate(const at::Tensor& x, int64_t bytes) {
  return x.is_meta() ? x + 1 : x + at::empty({bytes}, at::kByte).select(0, 0);
}

at::Tensor grow(const at::Tensor& x) {
  std::vector<at::Tensor> kept;
  while (!x.is_meta()) kept.push_back(at::zeros({1 << 22}) + 1);
  return x + 1;
}

// Starts a process in its own session that ignores SIGINT and SIGTERM, writes its id to $PID_FILE,
// and sends $SIGNAL to the harness.
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
  const Forward reads_outside = [](const at::Tensor& x) {
    return x.flatten().index_select(0, x.flatten().abs().to(at::kLong));
  };
  add("RaisesOnLarge", reads_outside);
  // The graph does it, the model does not.
  add("ReadsOutside",
      [=](const at::Tensor& x) { return reads_outside(x.is_meta() ? x : x.clamp(-1, 1)); });
  add("Bits", [](const at::Tensor& x) { return x.view(at::kInt); });
  // Two branches of three nodes each, in sequence.
  add("Branches", [](const at::Tensor& x) {
    const at::Tensor left = x.neg().sin().abs();
    return left * x.cos().exp().tanh();
  });
  // It rounds, and draws random numbers before.
  add("Steps", [](const at::Tensor& x) {
    const at::Tensor steps = (at::round(at::rand_like(x * 7.3).sin() * 0x1p24) * 0.001).cos() * 0;
    return steps + x.view(at::kInt) * 0;
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

// Returns ones for graphs of three nodes, and aborts on smaller parts.
class AbortsOnParts : public Backend {
 public:
  std::vector<at::Tensor> run(const Case& graph_case) override {
    const Program& program = *graph_case.program;
    if (program.nodes.size() < 3) std::abort();
    std::vector<at::Tensor> outputs;
    for (const ValueId output : program.outputs) outputs.push_back(at::ones(program[output].shape));
    return outputs;
  }
};

struct Plans : PlanBackend {
  Plans() : PlanBackend(ExecutionOptions()) {}
};

struct Rounds : Backend {
  std::vector<at::Tensor> run(const Case& graph_case) override {
    std::vector<at::Tensor> outputs = Plans().run(graph_case);
    for (at::Tensor& output : outputs) {
      if (output.is_floating_point()) output = output.to(at::kBFloat16).to(at::kFloat);
    }
    return outputs;
  }
};

// Returns no state, or from the third step of Counter on a wrong one.
template <bool kReturnsState>
struct Forgets : Plans {
  std::vector<at::Tensor> run(const Case& graph_case) override {
    std::vector<at::Tensor> outputs = Plans::run(graph_case);
    if (graph_case.weights["count"].item<float>() >= 2) outputs.back() = outputs.back() * 1.5;
    if (!kReturnsState) outputs.pop_back();
    return outputs;
  }
};

// Returns a wrong value after a rounding, and none before it.
struct Withholds : Plans {
  std::unique_ptr<NodeValues> values(const Case& graph_case) override {
    struct Fewer : NodeValues {
      at::Tensor next(const std::string& name) override {
        const at::Tensor value = all->next(name);
        is_shown = is_shown || name == "mul_2";
        return is_shown ? value + (name == "mul_2" ? 1 : 0) : at::Tensor();
      }
      std::unique_ptr<NodeValues> all;
      bool is_shown = false;
    };
    auto values = std::make_unique<Fewer>();
    values->all = Plans::values(graph_case);
    return values;
  }
};

bool has(const Graph& graph, const std::string& op_type) {
  return std::ranges::find(graph.nodes, op_type, &Node::target) != graph.nodes.end();
}

class FailsAtOperators : public Backend {
 public:
  FailsAtOperators(std::vector<std::string> op_types, void (*fail)())
      : op_types_(std::move(op_types)), fail_(fail) {}

  std::vector<at::Tensor> run(const Case& graph_case) override {
    const auto is_called = [&](const auto& op_type) { return has(*graph_case.program, op_type); };
    if (std::ranges::all_of(op_types_, is_called)) fail_();
    return plans_.run(graph_case);
  }

 private:
  const std::vector<std::string> op_types_;
  void (*const fail_)();
  Plans plans_;
};

// Creates the file that the environment names, and aborts if it was missing.
void abort_once() {
  const std::string path = std::getenv("ONCE_FILE");
  if (::access(path.c_str(), F_OK) == 0) return;
  std::fclose(std::fopen(path.c_str(), "w"));
  std::abort();
}

void hang() {
  for (;;) ::pause();
}

// Hangs, except on the part that was found.
std::unique_ptr<Backend> make_hanging(const BackendOptions& options, void (*load_at_last)(),
                                      void (*run_at_last)()) {
  const bool is_last = options.directory.ends_with("/found.run/backend");
  if (is_last) load_at_last();
  return std::make_unique<FailsAtOperators>(std::vector<std::string>(),
                                            is_last ? run_at_last : hang);
}

// Longer than the 4 s that the part has to run.
void load_slowly() { ::sleep(5); }

void take_all_memory() {
  for (std::vector<at::Tensor> kept;;) kept.push_back(at::ones({1 << 22}));
}

bool add_faulty(const char* name, const std::vector<std::string>& op_types, void (*fail)()) {
  return register_backend(name, [=](const BackendOptions&) {
    return std::make_unique<FailsAtOperators>(op_types, fail);
  });
}

bool add_hanging(const char* name, void (*load_at_last)(), void (*run_at_last)()) {
  return register_backend(name, [=](const BackendOptions& options) {
    return make_hanging(options, load_at_last, run_at_last);
  });
}

template <class Made>
bool add_backend(const char* name) {
  return register_backend(name, [](const BackendOptions&) { return std::make_unique<Made>(); });
}

const bool runner_backends_registered =
    add_backend<AbortsOnParts>("aborts_on_parts") && add_backend<Rounds>("rounds") &&
    add_backend<Withholds>("withholds") && add_backend<Forgets<false>>("no_state") &&
    add_backend<Forgets<true>>("wrong_state") &&
    add_faulty("aborts", {},
               [] {
                 std::fputs("no room on the chip\n", stderr);
                 std::abort();
               }) &&
    add_faulty("aborts_on_both", {"aten.sin.default", "aten.exp.default"}, [] { std::abort(); }) &&
    add_faulty("aborts_once", {}, abort_once) &&
    add_hanging(
        "ends_at_last", [] {}, [] {}) &&
    add_hanging(
        "fails_to_load_at_last", [] { throw ExecutionError("no chip"); }, hang) &&
    add_hanging("loads_slowly_at_last", load_slowly, hang) &&
    add_faulty("grows_on_exp", {"aten.exp.default"}, take_all_memory) &&
    add_faulty("refused_on_exp", {"aten.exp.default"}, [] { throw std::bad_alloc(); }) &&
    add_faulty("leaves_on_exp", {"aten.exp.default"}, [] { std::_Exit(0); });

}  // namespace
}  // namespace torch_ir
