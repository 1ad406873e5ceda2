// The ways to run a model that executor_benchmark compares.
//
//   eager                  the calls of the graph, node by node through the dispatcher, in
//                          InferenceMode; written by hand in C++ they take 0.1 us a node less
//   torchscript            the graph as a TorchScript module, in InferenceMode
//   torchscript_optimized  the same through torch::jit::optimize_for_inference
//   exact, fast            the plan of the graph, at that optimization level
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {

// What an engine runs.
struct BenchmarkedGraph {
  IR ir;
  StateDict weights;
  std::vector<at::Tensor> inputs;
};

// A graph that is ready to run.
struct Engine {
  // Runs the graph on its inputs. `outputs` are those of the run before, or empty.
  std::function<void(std::vector<at::Tensor>& outputs)> run;
  // What it keeps from run to run for values that eager would allocate and free, in bytes.
  std::function<int64_t()> held_bytes = [] { return 0; };
};

// What an engine has to compute before it is timed.
enum class Agreement {
  // The bits of eager.
  kBits,
  // Within 1e-4, absolute and relative.
  kClose,
};

struct EngineKind {
  std::string name;
  // With eager.
  Agreement agreement;
  // Keeps no reference. Throws Error for a graph that the engine can not run.
  std::function<Engine(const BenchmarkedGraph& graph)> make;
  // Whether archives are run, too: TorchScript has no form for much of what they hold.
  bool takes_archives = true;
};

// All of them, "eager" first.
const std::vector<EngineKind>& engine_kinds();

// What is wrong with `outputs`, where `expected` are eager's; empty when they agree.
std::string disagreement(const std::vector<at::Tensor>& outputs,
                         const std::vector<at::Tensor>& expected, Agreement agreement);

}  // namespace torch_ir
