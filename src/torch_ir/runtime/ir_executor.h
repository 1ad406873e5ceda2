// IRExecutor and execute_ir: run an IR with weights, as in the Python package.
//
// They compile an ExecutionPlan at the first run, and again when it finds that a weight has
// changed. To run a graph from several threads, use a plan directly.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/graph/tensor_registry.h"

namespace torch_ir {

class IRExecutor {
 public:
  // `constants` override `ir.constants`, by state dict name; an IR extracted on the meta device
  // needs them.
  explicit IRExecutor(IR ir, std::optional<StateDict> weights = std::nullopt,
                      StateDict constants = StateDict(),
                      const ExecutionOptions& options = ExecutionOptions());

  // Reads a `.pt` or `.safetensors` file. Throws WeightError.
  void load_weights(const std::string& path);
  void load_weights_from_state_dict(StateDict state_dict);

  // Returns one tensor for each of IR::graph_outputs, and not IR::state. Throws ExecutionError;
  // without weights, "Weights not loaded. Call load_weights() or load_weights_from_state_dict()
  // first."
  std::vector<at::Tensor> execute(const std::vector<at::Tensor>& inputs);

  const IR& ir() const { return ir_; }

 private:
  IR ir_;
  std::optional<StateDict> weights_;
  StateDict constants_;
  ExecutionOptions options_;
  std::optional<ExecutionPlan> plan_;
};

struct ExecuteOptions {
  std::optional<StateDict> weights = std::nullopt;
  // Loads the weights from this file instead.
  std::string weights_path = {};
  StateDict constants = StateDict();
  ExecutionOptions execution = {};
};

// Runs `ir` once. Throws std::invalid_argument("Either weights or weights_path must be provided"),
// otherwise as IRExecutor.
std::vector<at::Tensor> execute_ir(const IR& ir, const std::vector<at::Tensor>& inputs,
                                   const ExecuteOptions& options);

}  // namespace torch_ir
