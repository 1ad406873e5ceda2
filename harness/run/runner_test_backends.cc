// Backends that end the process that they run in, for the tests of the runner.

#include <ATen/ops/ones.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "harness/backend/backend.h"
#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

class Aborts : public Backend {
 public:
  std::vector<at::Tensor> run(const IR&, const StateDict&,
                              const std::vector<at::Tensor>&) override {
    std::fputs("no room on the chip\n", stderr);
    std::abort();
  }
};

// Runs graphs of three nodes, in which everything is one, and no part of them.
class AbortsOnParts : public Backend {
 public:
  std::vector<at::Tensor> run(const IR& ir, const StateDict&,
                              const std::vector<at::Tensor>&) override {
    if (ir.nodes.size() < 3) std::abort();
    std::vector<at::Tensor> outputs;
    for (const TensorMeta& output : ir.graph_outputs) outputs.push_back(at::ones(output.shape));
    return outputs;
  }
};

// Computes as plans do, and rounds the outputs.
class Rounds : public Backend {
 public:
  std::vector<at::Tensor> run(const IR& ir, const StateDict& weights,
                              const std::vector<at::Tensor>& inputs) override {
    std::vector<at::Tensor> outputs = PlanBackend(ExecutionOptions()).run(ir, weights, inputs);
    for (at::Tensor& output : outputs) output = output.to(at::kBFloat16).to(at::kFloat);
    return outputs;
  }
};

bool has(const IR& ir, const std::string& op_type) {
  return std::ranges::find(ir.nodes, op_type, &OpNode::op_type) != ir.nodes.end();
}

// Computes as plans do, but for graphs with operators that it can not cope with.
class Faulty : public Backend {
 public:
  Faulty(std::vector<std::string> op_types, void (*fail)())
      : op_types_(std::move(op_types)), fail_(fail) {}

  std::vector<at::Tensor> run(const IR& ir, const StateDict& weights,
                              const std::vector<at::Tensor>& inputs) override {
    if (std::ranges::all_of(op_types_, [&](const auto& op_type) { return has(ir, op_type); })) {
      fail_();
    }
    return plans_.run(ir, weights, inputs);
  }

 private:
  const std::vector<std::string> op_types_;
  void (*const fail_)();
  PlanBackend plans_ = PlanBackend(ExecutionOptions());
};

// Where the environment names a file that is not there, and now is.
void abort_once() {
  const std::string path = std::getenv("ONCE_FILE");
  if (::access(path.c_str(), F_OK) == 0) return;
  std::fclose(std::fopen(path.c_str(), "w"));
  std::abort();
}

void hang() {
  for (;;) ::pause();
}

// Hangs, but for the part that was found.
std::unique_ptr<Backend> make_hanging(const BackendOptions& options, void (*load_at_last)(),
                                      void (*run_at_last)()) {
  const bool is_last = options.directory.ends_with("/found.run/backend");
  if (is_last) load_at_last();
  return std::make_unique<Faulty>(std::vector<std::string>(), is_last ? run_at_last : hang);
}

// Longer than the 2.4 s that the part has to run.
void load_slowly() { ::sleep(3); }

// Touches all the memory that there is.
void take_all_memory() {
  for (std::vector<at::Tensor> kept;;) kept.push_back(at::ones({1 << 22}));
}

bool add_faulty(const char* name, const std::vector<std::string>& op_types, void (*fail)()) {
  return register_backend(
      name, [=](const BackendOptions&) { return std::make_unique<Faulty>(op_types, fail); });
}

bool add_hanging(const char* name, void (*load_at_last)(), void (*run_at_last)()) {
  return register_backend(name, [=](const BackendOptions& options) {
    return make_hanging(options, load_at_last, run_at_last);
  });
}

template <class Made>
bool add(const char* name) {
  return register_backend(name, [](const BackendOptions&) { return std::make_unique<Made>(); });
}

const bool registered =
    add<Aborts>("aborts") && add<AbortsOnParts>("aborts_on_parts") && add<Rounds>("rounds") &&
    add_faulty("aborts_on_exp", {"aten.exp.default"}, [] { std::abort(); }) &&
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
