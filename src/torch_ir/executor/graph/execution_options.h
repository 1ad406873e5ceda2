// What the caller of compile may choose, and what a plan tells of itself.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace torch_ir {

enum class Optimization {
  // The bits of eager.
  kExact,
  // May change the order of arithmetic, within 1e-4 of eager.
  kFast,
};

// "exact", "fast": what a user types, and what a report says.
std::string optimization_name(Optimization optimization);

// Throws Error, with the names that there are.
Optimization parse_optimization(const std::string& name);

// The same for what a user asks for: where `fast` cannot run, it says so on stderr and gives
// `exact`.
Optimization choose_optimization(const std::string& name);

// The version of oneDNN that level `fast` computes with; nothing where torch-ir was built without
// it.
std::optional<std::string> onednn_version();

// What compile may do. All but the first two are for those who measure or test what each brings.
struct ExecutionOptions {
  Optimization optimization = Optimization::kExact;
  // Where the plan runs; without it, where the weights are.
  std::optional<c10::Device> device;

  // Off: every node calls its operator through the dispatcher, and memory is taken from LibTorch's
  // allocator.
  bool trace = true;
  // Compute once what depends on weights and constants only.
  bool fold_constants = true;
  // Call kernels that were prepared once, and our own; off: all go through the dispatcher.
  bool kernels = true;
  // Let intermediate values share memory; off: each has its own.
  bool reuse_memory = true;
};

// The level that runs: `fast` fuses the calls of traces into primitives of oneDNN, and without
// traces or oneDNN it is `exact`.
Optimization running_level(const ExecutionOptions& options);

// What a run needs besides weights, inputs and outputs, in bytes.
struct PlanMemory {
  // What the plan takes.
  int64_t arena = 0;
  // The most that is alive at one time of what operators without a kernel take for their results.
  int64_t returned = 0;
  // The sum of all intermediate values.
  int64_t intermediates = 0;
  // The most of the arena that is alive at one time, results that take the place of an input
  // counted once: no arena for this order of calls can be smaller.
  int64_t lower_bound = 0;
};

// A node that runs by itself, through the dispatcher, between those that are replayed.
struct NodeNotReplayed {
  // Of a node inside control flow, with the name of that before it: "cond > mul".
  std::string name;
  std::string op_type;
  // "it draws random numbers".
  std::string reason;
};

// What the runs of one node took.
struct NodeProfile {
  std::string name;
  std::string op_type;
  // What it calls, as eager would: "aten::addmm", "aten::tanh". Empty where all was done
  // beforehand.
  std::vector<std::string> calls;
  // Median seconds a run.
  double seconds = 0;
  // Read and written a run.
  int64_t bytes = 0;
};

}  // namespace torch_ir
