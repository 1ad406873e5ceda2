#include "harness/backend/plan_backend.h"

#include <algorithm>

#include "torch_ir/executor/device.h"
#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/executor/interpreter/node_run.h"

namespace torch_ir {
namespace {

class PlanValues : public NodeValues {
 public:
  PlanValues(const IR& ir, const StateDict& weights, const std::vector<at::Tensor>& inputs,
             const ExecutionOptions& options)
      : run_(ir, weights, inputs, options) {}

  at::Tensor next(const std::string& name) override { return run_.value(name); }

 private:
  NodeRun run_;
};

bool is_same(const StateDict& a, const StateDict& b) {
  const auto is_same_item = [](const auto& x, const auto& y) {
    return x.key() == y.key() && x.value().is_same(y.value());
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same_item);
}

}  // namespace

// A plan, and what it was made of: a graph in another place may be the same, and one in the same
// place another.
struct PlanBackend::Compiled {
  Compiled(const IR& graph, const StateDict& tensors, const ExecutionOptions& options)
      : ir(graph), weights(tensors), plan(compile(graph, tensors, StateDict(), options)) {}

  bool is_of(const IR& graph, const StateDict& tensors) const {
    return is_same(weights, tensors) && ir == graph;
  }

  IR ir;
  StateDict weights;
  ExecutionPlan plan;
};

PlanBackend::PlanBackend(const ExecutionOptions& options) : options_(options) {}
PlanBackend::~PlanBackend() = default;

std::vector<at::Tensor> PlanBackend::run(const IR& ir, const StateDict& weights,
                                         const std::vector<at::Tensor>& inputs) {
  if (!compiled_ || !compiled_->is_of(ir, weights)) {
    compiled_.reset();
    compiled_ = std::make_unique<Compiled>(ir, weights, options_);
  }
  return compiled_->plan.run_checked(to_device(inputs, options_.device));
}

std::unique_ptr<NodeValues> PlanBackend::values(const IR& ir, const StateDict& weights,
                                                const std::vector<at::Tensor>& inputs) {
  return std::make_unique<PlanValues>(ir, weights, to_device(inputs, options_.device), options_);
}

}  // namespace torch_ir
