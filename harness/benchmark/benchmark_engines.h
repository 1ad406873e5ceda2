// The ways to run a model that executor_benchmark compares.
//
//   eager        the calls of the graph, node by node through the dispatcher, in InferenceMode;
//                written by hand in C++ they take 0.1 us a node less
//   exact, fast  the plan of the graph, at that optimization level
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {

// What an engine runs.
struct BenchmarkedGraph {
  IR ir;
  StateDict weights;
  std::vector<at::Tensor> inputs;
};

struct EngineKind {
  std::string name;
  ExecutionOptions options = {};
  // Whether it has to give the bits of eager before it is timed; otherwise it has to be within
  // 1e-4, absolute and relative.
  bool has_eager_bits = true;
};

// All of them, "eager" first.
const std::vector<EngineKind>& engine_kinds();

// A graph that is ready to run.
class Engine {
 public:
  Engine(const EngineKind& kind, const BenchmarkedGraph& graph)
      : is_eager_(!kind.options.trace),
        plan_(compile(graph.ir, graph.weights, StateDict(), kind.options)),
        inputs_(graph.inputs) {}

  // `outputs` are those of the run before, or empty.
  void run(std::vector<at::Tensor>& outputs) const;
  // What it keeps from run to run for values that eager would allocate and free, in bytes.
  int64_t held_bytes() const;

 private:
  bool is_eager_;
  ExecutionPlan plan_;
  std::vector<at::Tensor> inputs_;
};

// What is wrong with `outputs` of an engine, where `expected` are eager's; empty when they agree.
std::string disagreement(const std::vector<at::Tensor>& outputs,
                         const std::vector<at::Tensor>& expected, bool has_eager_bits);

}  // namespace torch_ir
