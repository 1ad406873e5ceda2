#include "torch_ir/runtime/ir_executor.h"

#include <stdexcept>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/runtime/device.h"
#include "torch_ir/runtime/graph/bind_weights.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {

IRExecutor::IRExecutor(IR ir, std::optional<StateDict> weights, StateDict constants,
                       const ExecutionOptions& options)
    : ir_(std::move(ir)),
      weights_(std::move(weights)),
      constants_(std::move(constants)),
      options_(options) {}

void IRExecutor::load_weights(const std::string& path) {
  load_weights_from_state_dict(torch_ir::load_weights(path));
}

void IRExecutor::load_weights_from_state_dict(StateDict state_dict) {
  weights_ = std::move(state_dict);
  plan_.reset();
}

std::vector<at::Tensor> IRExecutor::execute(const std::vector<at::Tensor>& inputs) {
  if (!weights_) {
    throw ExecutionError(
        "Weights not loaded. Call load_weights() or load_weights_from_state_dict() first.");
  }
  const bool is_current = plan_ && plan_->changed_weight().empty();
  try {
    if (!is_current) plan_ = compile(ir_, *weights_, constants_, options_);
  } catch (const MissingWeight& missing) {
    throw missing.in_python;
  }
  std::vector<at::Tensor> outputs = plan_->run(to_device(inputs, options_.device));
  outputs.resize(ir_.graph_outputs.size());
  return outputs;
}

std::vector<at::Tensor> execute_ir(const IR& ir, const std::vector<at::Tensor>& inputs,
                                   const ExecuteOptions& options) {
  if (!options.weights && options.weights_path.empty()) {
    throw std::invalid_argument("Either weights or weights_path must be provided");
  }
  IRExecutor executor(ir, options.weights, options.constants, options.execution);
  if (!options.weights_path.empty()) executor.load_weights(options.weights_path);
  return executor.execute(inputs);
}

}  // namespace torch_ir
