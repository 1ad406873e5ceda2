// The options of compile, and what a plan reports about itself.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace torch_ir {

enum class Optimization {
  // Bit-identical to eager.
  kExact,
  // Reorders arithmetic and approximates some functions to about 1e-6; docs/command-line.md says
  // what it promises.
  kFast,
};

// "exact" or "fast".
std::string optimization_name(Optimization optimization);

// Throws Error, listing the valid names.
Optimization parse_optimization(const std::string& name);

// As above, but where `fast` cannot run, says so on stderr and returns `exact`.
Optimization choose_optimization(const std::string& name);

// The oneDNN that level `fast` uses; nothing if torch-ir was built without it.
std::optional<std::string> onednn_version();

// The options after the first two are for measurements and tests.
struct ExecutionOptions {
  Optimization optimization = Optimization::kExact;
  // By default the device of the weights.
  std::optional<c10::Device> device = std::nullopt;

  // Off: every node calls its operator through the dispatcher, and LibTorch allocates.
  bool trace = true;
  // Compute once what depends only on weights and constants.
  bool fold_constants = true;
  // Off: all calls go through the dispatcher.
  bool kernels = true;
  // Let intermediate values share memory.
  bool reuse_memory = true;
  // Know where values of nodes lie, for ExecutionPlan::observe.
  bool keeps_values = false;
};

// The level that runs: without traces or oneDNN, `fast` becomes `exact`.
Optimization running_level(const ExecutionOptions& options);

// The memory that a run needs besides weights, inputs and outputs, in bytes.
struct PlanMemory {
  int64_t arena = 0;
  // The peak of results that operators without a kernel allocate.
  int64_t returned = 0;
  // The sum of all intermediate values.
  int64_t intermediates = 0;
  // The peak of the arena, counting results that replace an input once: no arena for this order of
  // calls can be smaller.
  int64_t lower_bound = 0;
};

// A node that runs by itself, through the dispatcher.
struct NodeNotReplayed {
  // A node inside control flow is prefixed with the outer node: "cond > mul".
  std::string name;
  std::string op_type;
  // "it draws random numbers".
  std::string reason;
};

// A node at which runs met values that level `fast` leaves to eager's arithmetic: NaN, infinities,
// numbers above 2^50. They started again as `exact`.
struct ExactRuns {
  std::string name;
  std::string op_type;
  int64_t num_runs = 0;
};

struct NodeProfile {
  std::string name;
  std::string op_type;
  // The calls that eager would make: "aten::addmm", "aten::tanh". Empty if the node was computed
  // beforehand.
  std::vector<std::string> calls;
  // The median of all runs.
  double seconds = 0;
  // Read and written per run.
  int64_t bytes = 0;
};

}  // namespace torch_ir
