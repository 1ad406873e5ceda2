// ExecutionPlan: an IR, compiled once, run many times.
//
// `compile` resolves every operator, binds every argument, and looks up every weight and constant.
// The first run with inputs of some layout traces the operators that eager would call for them,
// chooses a kernel for each, and plans their memory; every run after only calls the kernels. Nodes
// that can not be replayed so run between those that are. The results are bit-identical to calling
// each node's ATen operator eagerly with the same number of threads, unless the options ask for
// `fast`.
//
// A plan may be run by any number of threads at once. It never writes to a weight, a constant or an
// input: what a graph mutates in place is copied first, for each run.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

class ExecutionPlan {
 public:
  ExecutionPlan(ExecutionPlan&&) noexcept;
  ExecutionPlan& operator=(ExecutionPlan&&) noexcept;
  ~ExecutionPlan();

  // The graph's outputs for `inputs`, one for each of IR::graph_inputs with its shape and dtype,
  // on the device of the weights. They are ordinary tensors without gradient, and the caller's to
  // write in place: one that is a weight or a view of one is a copy. One that is an input is that
  // very tensor, as in eager, unless the graph may write to it. Throws ExecutionError, naming the
  // inputs that do not fit, or the node and tensor.
  std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs) const;

  // The same into `outputs`, which are released first: a caller that keeps none of them lets the
  // run use their memory again.
  void run(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs) const;

  // The same, but throws ExecutionError too when an output of a node that the graph reads is not of
  // the shape and dtype that the IR says. What nobody reads may differ from device to device, such
  // as the statistics that a batch norm saves.
  std::vector<at::Tensor> run_checked(const std::vector<at::Tensor>& inputs) const;

  // Of a run with inputs of this layout, as far as it is replayed; by a run. Nothing where no node
  // is, and each run takes what it needs from LibTorch's allocator.
  std::optional<PlanMemory> memory(const std::vector<at::Tensor>& inputs) const;

  // Runs `rounds` times after two that do not count; in the order of the graph. How many bytes a
  // node reads and writes is known of those that are replayed.
  std::vector<NodeProfile> profile(const std::vector<at::Tensor>& inputs, int rounds) const;

  // The nodes that call their operators through the dispatcher in each run, in order, as far as the
  // runs until now have shown it.
  std::vector<NodeNotReplayed> not_replayed() const;

 private:
  friend ExecutionPlan compile(const IR&, const StateDict&, const StateDict&,
                               const ExecutionOptions&);
  struct State;
  explicit ExecutionPlan(std::unique_ptr<const State> state);

  std::unique_ptr<const State> state_;
};

// Compiles `ir`. Weights are found by state dict name or by placeholder, in `weights`, then in
// `constants`, then in `ir.constants`; they are kept, not copied. Throws ValidationError for an IR
// that is not well formed, and ExecutionError for weights that are missing or do not fit, in one
// problem_list (check_values.h), or an operator that this process does not have.
ExecutionPlan compile(const IR& ir, const StateDict& weights,
                      const StateDict& constants = StateDict(),
                      const ExecutionOptions& options = ExecutionOptions());

}  // namespace torch_ir
