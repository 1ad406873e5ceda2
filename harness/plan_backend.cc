#include "torch_ir/harness/plan_backend.h"

#include "torch_ir/executor/device.h"
#include "torch_ir/executor/node_run.h"
#include "torch_ir/harness/stages.h"

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

}  // namespace

std::vector<at::Tensor> PlanBackend::run(const IR& ir, const StateDict& weights,
                                         const std::vector<at::Tensor>& inputs) {
  return execute(ir, weights, inputs, options_);
}

std::unique_ptr<NodeValues> PlanBackend::values(const IR& ir, const StateDict& weights,
                                                const std::vector<at::Tensor>& inputs) {
  return std::make_unique<PlanValues>(ir, weights, to_device(inputs, options_.device), options_);
}

}  // namespace torch_ir
