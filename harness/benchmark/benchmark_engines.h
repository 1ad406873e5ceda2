// The ways to run a model that executor_benchmark compares.
//
//   eager                  the ATen calls of the graph, by hand, in InferenceMode
//   torchscript            the graph as a TorchScript module, in InferenceMode
//   torchscript_optimized  the same through torch::jit::optimize_for_inference
//   exact, fast            the plan of the graph, at that optimization level
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/benchmark/benchmark_check.h"
#include "harness/stages/stages.h"
#include "torch_ir/exporter/capture/model.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// A model that is ready to run.
struct Engine {
  // Runs the model on the subject's inputs. `outputs` are those of the run before, or empty.
  std::function<void(std::vector<at::Tensor>& outputs)> run;
  // What it keeps from run to run for values that eager would allocate and free, in bytes.
  std::function<int64_t()> held_bytes = [] { return 0; };
};

struct EngineKind {
  std::string name;
  // With eager.
  Agreement agreement;
  // Keeps references to neither. Throws Error for a model that the engine can not run.
  std::function<Engine(const std::string& model, const Subject& subject, const IR& ir)> make;
};

// All of them, "eager" first.
const std::vector<EngineKind>& engine_kinds();

}  // namespace torch_ir
