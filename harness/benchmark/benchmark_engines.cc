#include "harness/benchmark/benchmark_engines.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/runtime/graph/memory_overlap.h"
#include "torch_ir/verifier/compare.h"
#include "torch_ir/verifier/judge_run.h"

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

std::string disagreement(const EngineKind& kind, const Case& graph_case,
                         const std::vector<at::Tensor>& outputs) {
  const std::vector<at::Tensor>& expected = graph_case.expected;
  const ToleranceRule tolerance{.fixed = {.rtol = 1e-4, .atol = 1e-4}};
  if (kind.has_eager_bits) {
    for (size_t i = 0; i < std::min(outputs.size(), expected.size()); ++i) {
      if (same_bits(outputs[i], expected[i])) continue;
      std::ostringstream text;
      text << "output " << i << " does not match eager's bit for bit: "
           << compare_tensors(outputs[i], expected[i], kExactTolerance);
      return text.str();
    }
  }
  const VerificationReport compared = compare_outputs(outputs, expected, {}, tolerance);
  if (compared.is_valid || compared.output_details.empty()) return compared.error_message;
  const auto run_again = [&kind](const Case& other) {
    std::vector<at::Tensor> again;
    Engine(kind, other).run(again);
    return again;
  };
  return judge_run({.graph_case = graph_case,
                    .outputs = outputs,
                    .rerun = run_again,
                    .run_eagerly = [&] { return expected; },
                    .describe = message_text},
                   tolerance, {.reference = ReferenceKind::kAuto})
      .error_message;
}

}  // namespace torch_ir
