// Backends that end the process that they run in, for the tests of the runner.

#include <ATen/ops/ones.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "harness/backend/backend.h"

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

template <class Made>
bool add(const char* name) {
  return register_backend(name, [](const BackendOptions&) { return std::make_unique<Made>(); });
}

const bool registered =
    add<Aborts>("aborts") && add<AbortsOnParts>("aborts_on_parts") && add<Rounds>("rounds");

}  // namespace
}  // namespace torch_ir
