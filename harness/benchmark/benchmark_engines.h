// The engines that runtime_benchmark compares: ways to run a model.
//
//   eager        calls the graph's operators node by node through the dispatcher, in InferenceMode;
//                hand-written C++ takes 0.1 us less per node
//   exact, fast  runs the plan of the graph at that optimization level
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "torch_ir/runtime/execution_plan.h"

namespace torch_ir {

struct EngineKind {
  std::string name;
  ExecutionOptions options = {};
  // Whether outputs must have eager's bits.
  bool has_eager_bits = true;
};

const std::vector<EngineKind>& engine_kinds();

class Engine {
 public:
  Engine(const EngineKind& kind, const Case& graph_case)
      : is_eager_(!kind.options.trace),
        plan_(compile(graph_case, kind.options)),
        inputs_(graph_case.inputs) {}

  // `outputs` has the outputs of the last run, or is empty.
  void run(std::vector<at::Tensor>& outputs) const;
  // Bytes kept from run to run for values that eager would allocate and free.
  int64_t held_bytes() const;

 private:
  bool is_eager_;
  ExecutionPlan plan_;
  std::vector<at::Tensor> inputs_;
};

// Describes how `outputs`, which an engine of this kind computed, differ from eager's, which
// `graph_case` expects; empty when they agree. Without eager's bits they may differ by 1e-4, or by
// what the verdict on a run explains: float64, and steps of quantisation.
std::string disagreement(const EngineKind& kind, const Case& graph_case,
                         const std::vector<at::Tensor>& outputs);

}  // namespace torch_ir
