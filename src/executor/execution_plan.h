// ExecutionPlan: an IR, compiled once, run many times.
//
// `compile` resolves every operator, binds every argument, and looks up every weight and constant;
// a run only calls operators. The results are bit-identical to calling each node's ATen operator
// eagerly with the same number of threads.
//
// A plan is immutable: any number of threads may run one at once. It never writes to a weight, a
// constant or an input: what a graph mutates in place is copied first, for each run.
#ifndef TORCH_IR_EXECUTOR_EXECUTION_PLAN_H_
#define TORCH_IR_EXECUTOR_EXECUTION_PLAN_H_

#include <memory>
#include <vector>

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
  // input or the node and tensor.
  std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs) const;

  // The same, but throws ExecutionError too when an output of a node that the graph reads is not of
  // the shape and dtype that the IR says. What nobody reads may differ from device to device, such
  // as the statistics that a batch norm saves.
  std::vector<at::Tensor> run_checked(const std::vector<at::Tensor>& inputs) const;

 private:
  friend ExecutionPlan compile(const IR&, const StateDict&, const StateDict&);
  struct State;
  explicit ExecutionPlan(std::unique_ptr<const State> state);

  std::unique_ptr<const State> state_;
};

// Compiles `ir`. Weights are found by state dict name or by placeholder, in `weights`, then in
// `constants`, then in `ir.constants`; they are kept, not copied. Throws ValidationError for an IR
// that is not well formed, and ExecutionError for a weight that is missing or does not fit, or an
// operator that this process does not have.
ExecutionPlan compile(const IR& ir, const StateDict& weights,
                      const StateDict& constants = StateDict());

}  // namespace torch_ir

#endif  // TORCH_IR_EXECUTOR_EXECUTION_PLAN_H_
