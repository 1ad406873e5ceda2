#include "harness/benchmark/benchmark_engines.h"

#include <c10/core/InferenceMode.h>

#include <memory>
#include <optional>
#include <utility>

#include "harness/benchmark/eager_models.h"
#include "harness/benchmark/torchscript_graph.h"
#include "torch_ir/executor/execution_plan.h"

namespace torch_ir {
namespace {

using Tensors = std::vector<at::Tensor>;

Engine run_torchscript(torch::jit::Module module, const Tensors& inputs) {
  return {.run = [module, forward = module.get_method("forward"), inputs](Tensors& outputs) {
    const c10::InferenceMode inference_mode;
    outputs.clear();
    const c10::IValue result = forward({inputs.begin(), inputs.end()});
    if (result.isTensor()) {
      outputs.push_back(result.toTensor());
      return;
    }
    for (const c10::IValue& output : result.toTupleRef().elements()) {
      outputs.push_back(output.toTensor());
    }
  }};
}

Engine make_torchscript(const std::string&, const Subject& subject, const IR& ir) {
  return run_torchscript(to_torchscript(ir, subject.weights), subject.inputs);
}

Engine make_torchscript_optimized(const std::string&, const Subject& subject, const IR& ir) {
  torch::jit::Module module = to_torchscript(ir, subject.weights);
  return run_torchscript(torch::jit::optimize_for_inference(module), subject.inputs);
}

Engine make_plan(const ExecutionOptions& options, const Subject& subject, const IR& ir) {
  const auto plan =
      std::make_shared<ExecutionPlan>(compile(ir, subject.weights, StateDict(), options));
  const Tensors& inputs = subject.inputs;
  return {.run = [plan, inputs](Tensors& outputs) { plan->run(inputs, outputs); },
          .held_bytes =
              [plan, inputs] {
                const std::optional<PlanMemory> memory = plan->memory(inputs);
                return memory ? memory->arena : 0;
              }};
}

Engine make_eager(const std::string& model, const Subject& subject, const IR& ir) {
  if (!has_eager_model(model)) {
    // Node by node through the dispatcher: the same calls, and about the same time.
    ExecutionOptions options;
    options.trace = false;
    return make_plan(options, subject, ir);
  }
  return {.run = [calls = eager_model(model, subject.weights, ir.constants),
                  inputs = subject.inputs](Tensors& outputs) {
    const c10::InferenceMode inference_mode;
    outputs.clear();
    outputs = calls(inputs);
  }};
}

Engine make_exact(const std::string&, const Subject& subject, const IR& ir) {
  return make_plan(ExecutionOptions(), subject, ir);
}

Engine make_fast(const std::string&, const Subject& subject, const IR& ir) {
  ExecutionOptions options;
  options.optimization = Optimization::kFast;
  return make_plan(options, subject, ir);
}

}  // namespace

const std::vector<EngineKind>& engine_kinds() {
  static const std::vector<EngineKind> kinds = {
      {"eager", Agreement::kBits, make_eager},
      {"torchscript", Agreement::kClose, make_torchscript},
      {"torchscript_optimized", Agreement::kClose, make_torchscript_optimized},
      {"exact", Agreement::kBits, make_exact},
      {"fast", Agreement::kClose, make_fast},
  };
  return kinds;
}

}  // namespace torch_ir
