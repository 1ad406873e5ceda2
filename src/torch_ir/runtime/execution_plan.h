// ExecutionPlan: an IR, compiled once, run many times.
//
// `compile` resolves every operator, argument, weight and constant. The first run
// traces the operators that eager would call, chooses a kernel for each, and plans their memory;
// later runs with inputs of that layout only call the kernels. Other layouts are traced once they
// come again. Nodes that cannot be replayed run between them.
// Unless the options ask for `fast`, results are bit-identical to calling each node's ATen operator
// eagerly with the same number of threads.
//
// Any number of threads may call const members at once; then `profile` times them all, and `memory`
// restores the random number generator of all. Other members need a plan that no one else uses.
//
// A plan keeps the tensors that it is given, and computes in advance what depends on them alone. So
// a run throws ExecutionError if one has since been written to or given other memory (set_data),
// and `reload` takes the new values. Writes that PyTorch does not count are not noticed, and runs
// may mix old and new values: those through data() or raw pointers, and to tensors of inference
// mode. A plan never writes to a weight, a constant or an input: each run copies what the graph
// mutates. It reads these tensors anew, so that a caller can keep state in them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/runtime/graph/case.h"
#include "torch_ir/runtime/graph/execution_options.h"

namespace torch_ir {

class SegmentedGraph;

class ExecutionPlan {
 public:
  // What was moved from throws ExecutionError until it is assigned to.
  ExecutionPlan(ExecutionPlan&&) noexcept;
  ExecutionPlan& operator=(ExecutionPlan&&) noexcept;
  ~ExecutionPlan();

  // Takes one input for each of IR::graph_inputs, with its shape and dtype, on the device of the
  // weights. Returns one tensor for each output of the program: IR::graph_outputs, then IR::state,
  // the new values of what the graph writes to in place; an IR without that key has no state. The
  // outputs have no gradient, and the caller may write to them: an output that is a
  // weight or a view of one is a copy, but one that is an input is that very tensor, as in eager,
  // unless the graph may write to it. Throws ExecutionError, naming the inputs that do not fit, or
  // the node and tensor.
  [[nodiscard]] std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs) const;

  // As above, but into `outputs`, which may be `inputs`. They are released first, so that the run
  // can reuse memory that no input shares. An input made by from_blob must not lie in one of them.
  void run(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs) const;

  // As run, but also compares the node outputs that the graph reads with the IR. Where an operator
  // returns another shape or dtype, because PyTorch declared a wrong one in the export, it warns
  // once and goes on; it throws ExecutionError where an op handler does, or where one is a number
  // and the other is not. Outputs that nothing reads may differ between devices, such as the
  // statistics that a batch norm saves.
  [[nodiscard]] std::vector<at::Tensor> run_checked(const std::vector<at::Tensor>& inputs) const;

  // Runs the plan, compiled with `keeps_values`, and gives `observer` the values of nodes as they
  // are made, some of them twice; the later one counts. Undefined ones exist only inside a fused
  // call. The run may write to their memory when it goes on.
  void observe(const std::vector<at::Tensor>& inputs, const ValueObserver& observer) const;

  // Runs the plan and returns the needs of its replayed parts; nothing if no node is replayed.
  std::optional<PlanMemory> memory(const std::vector<at::Tensor>& inputs) const;

  // The nodes in the order of the graph, timed over `rounds` runs after two to warm up. Bytes are
  // known only for replayed nodes.
  std::vector<NodeProfile> profile(const std::vector<at::Tensor>& inputs, int rounds) const;

  // The nodes that each run calls through the dispatcher, in order, as far as past runs have shown.
  std::vector<NodeNotReplayed> not_replayed() const;

  // The nodes at which runs of level `fast` started again as `exact`, in order. If the first run of
  // a part that is replayed does, later ones of that part are `exact` from the start.
  std::vector<ExactRuns> exact_runs() const;

  // The name of a weight or constant that has changed, so that runs throw; empty if none has.
  [[nodiscard]] std::string changed_weight() const;

  // Compiles again, with the same constants and options. Throws as `compile`, changing nothing.
  void reload(const StateDict& weights);

 private:
  friend ExecutionPlan compile(const Case&, const ExecutionOptions&);
  struct State;
  explicit ExecutionPlan(std::unique_ptr<const State> state);
  const State& state() const;
  SegmentedGraph& graph_to_run() const;

  std::unique_ptr<const State> state_;
};

// Compiles the graph of a case. Looks up weights by state dict name or placeholder, in `weights`,
// then in `constants`, then in those of the program, and keeps them, without a copy unless strides
// or device are not the graph's. Throws ExecutionError for weights that are missing or do not fit,
// all in one message, or an operator that this process does not have.
[[nodiscard]] ExecutionPlan compile(const Case& graph_case, const ExecutionOptions& options = {});

// As above, for the program of `ir`. Throws ValidationError if it is not well formed.
[[nodiscard]] ExecutionPlan compile(const IR& ir, const StateDict& weights,
                                    const StateDict& constants = StateDict(),
                                    const ExecutionOptions& options = {});

}  // namespace torch_ir
