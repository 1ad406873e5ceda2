#include "harness/benchmark/benchmark_engines.h"

#include <c10/core/InferenceMode.h>

#include <cstring>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "harness/benchmark/torchscript_graph.h"
#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/verifier/compare.h"

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

Engine make_torchscript(const BenchmarkedGraph& graph) {
  return run_torchscript(to_torchscript(graph.ir, graph.weights), graph.inputs);
}

Engine make_torchscript_optimized(const BenchmarkedGraph& graph) {
  torch::jit::Module module = to_torchscript(graph.ir, graph.weights);
  return run_torchscript(torch::jit::optimize_for_inference(module), graph.inputs);
}

Engine make_plan(const ExecutionOptions& options, const BenchmarkedGraph& graph) {
  const auto plan =
      std::make_shared<ExecutionPlan>(compile(graph.ir, graph.weights, StateDict(), options));
  const Tensors& inputs = graph.inputs;
  return {.run = [plan, inputs](Tensors& outputs) { plan->run(inputs, outputs); },
          .held_bytes =
              [plan, inputs] {
                const std::optional<PlanMemory> memory = plan->memory(inputs);
                return memory ? memory->arena : 0;
              }};
}

// Node by node: nothing is prepared but the arguments that are the same in each run.
Engine make_eager(const BenchmarkedGraph& graph) {
  ExecutionOptions options;
  options.trace = false;
  return {.run = [plan = make_plan(options, graph)](Tensors& outputs) {
    const c10::InferenceMode inference_mode;
    plan.run(outputs);
  }};
}

Engine make_exact(const BenchmarkedGraph& graph) { return make_plan(ExecutionOptions(), graph); }

Engine make_fast(const BenchmarkedGraph& graph) {
  ExecutionOptions options;
  options.optimization = Optimization::kFast;
  return make_plan(options, graph);
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return false;
  const at::Tensor x = a.contiguous();
  const at::Tensor y = b.contiguous();
  return x.numel() == 0 || std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

}  // namespace

const std::vector<EngineKind>& engine_kinds() {
  static const std::vector<EngineKind> kinds = {
      {"eager", Agreement::kBits, make_eager},
      {"torchscript", Agreement::kClose, make_torchscript, /*takes_archives=*/false},
      {"torchscript_optimized", Agreement::kClose, make_torchscript_optimized,
       /*takes_archives=*/false},
      {"exact", Agreement::kBits, make_exact},
      {"fast", Agreement::kClose, make_fast},
  };
  return kinds;
}

std::string disagreement(const std::vector<at::Tensor>& outputs,
                         const std::vector<at::Tensor>& expected, Agreement agreement) {
  if (outputs.size() != expected.size()) {
    return std::to_string(outputs.size()) + " outputs, and eager has " +
           std::to_string(expected.size());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tolerance tolerance =
        tolerance_for({.fixed = {.rtol = 1e-4, .atol = 1e-4}}, i, expected[i].scalar_type());
    const TensorComparison comparison = compare_tensors(outputs[i], expected[i], tolerance);
    const bool agrees =
        agreement == Agreement::kBits ? same_bits(outputs[i], expected[i]) : comparison.is_close;
    if (agrees) continue;
    std::ostringstream text;
    text << "output " << i << " is not eager's"
         << (agreement == Agreement::kBits ? " bit for bit: " : ": ") << comparison;
    return text.str();
  }
  return "";
}

}  // namespace torch_ir
