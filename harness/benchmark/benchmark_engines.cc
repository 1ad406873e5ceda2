#include "harness/benchmark/benchmark_engines.h"

#include <c10/core/InferenceMode.h>

#include <optional>
#include <sstream>

#include "torch_ir/runtime/graph/memory_overlap.h"
#include "torch_ir/verifier/compare.h"

namespace torch_ir {

const std::vector<EngineKind>& engine_kinds() {
  static const std::vector<EngineKind> kinds = [] {
    std::vector<EngineKind> all = {{"eager"}, {"exact"}, {"fast"}};
    // Prepares only arguments that never change.
    all[0].options.trace = false;
    all[2].options.optimization = Optimization::kFast;
    all[2].has_eager_bits = false;
    return all;
  }();
  return kinds;
}

void Engine::run(std::vector<at::Tensor>& outputs) const {
  std::optional<c10::InferenceMode> inference_mode;
  if (is_eager_) inference_mode.emplace();
  plan_.run(inputs_, outputs);
}

int64_t Engine::held_bytes() const {
  const std::optional<PlanMemory> memory = plan_.memory(inputs_);
  return memory ? memory->arena : 0;
}

std::string disagreement(const std::vector<at::Tensor>& outputs,
                         const std::vector<at::Tensor>& expected, bool has_eager_bits) {
  if (outputs.size() != expected.size()) {
    return "wrong number of outputs: " + std::to_string(outputs.size()) + ", expected " +
           std::to_string(expected.size());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tolerance tolerance =
        tolerance_for({.fixed = {.rtol = 1e-4, .atol = 1e-4}}, i, expected[i].scalar_type());
    const TensorComparison comparison = compare_tensors(outputs[i], expected[i], tolerance);
    if (has_eager_bits ? same_bits(outputs[i], expected[i]) : comparison.is_close) continue;
    std::ostringstream text;
    text << "output " << i << " does not match eager's"
         << (has_eager_bits ? " bit for bit: " : ": ") << comparison;
    return text.str();
  }
  return "";
}

}  // namespace torch_ir
