// One run of a graph, node by node: each calls its operator through the dispatcher.
//
// What plans fall back on, what is traced, and what NodeRun shows value by value.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/SmallVector.h>

#include <functional>
#include <utility>
#include <vector>

#include "torch_ir/executor/graph/graph_range.h"
#include "torch_ir/executor/graph/lowered_graph.h"

namespace torch_ir {

// What a run has made so far and somebody still reads, by ValueId.
using RunValues = c10::SmallVector<c10::IValue, 64>;
using Stack = std::vector<c10::IValue>;

// While it lives, operators run the kernels that they would run in InferenceMode, and as fast; but
// tensors made are ordinary ones, that the caller can write in place. Autocast is off: a graph says
// itself where it casts.
class PlainKernelsGuard {
  at::NoGradGuard no_grad_;
  at::AutoDispatchBelowADInplaceOrView below_autograd_;
  c10::impl::ExcludeDispatchKeyGuard no_autocast_{c10::autocast_dispatch_keyset};
};

// Why `input` can not be the input of a graph that runs on `device`, one line: it is undefined, or
// its shape, dtype, layout or device are others. Empty where it can, as far as its known sizes
// tell.
std::string input_problem(const TensorMeta& meta, c10::Device device, const at::Tensor& input);
// The same of their number.
std::string input_count_problem(size_t expected, size_t actual);

// One value for each input of the graph. Throws ExecutionError with a problem_list, naming the
// inputs, for those that do not fit.
Stack input_values(const LoweredGraph& graph, const std::vector<at::Tensor>& inputs);

// Runs a graph of control flow in place of a StepRun: as run_steps.
using BodyRunner = std::function<std::vector<c10::IValue>(
    const LoweredGraph& graph, const Stack& inputs, SymbolValues* symbols)>;

// A run that advances step by step, one step a node. To be made and advanced under a
// PlainKernelsGuard.
class StepRun {
 public:
  // One of `inputs` for each input of the graph, as input_values gives them. Where `symbols` is
  // given, outputs of nodes that are not what the IR says are errors. Graph and symbols outlive
  // the run.
  StepRun(const LoweredGraph& graph, const Stack& inputs, SymbolValues* symbols,
          const BodyRunner* run_body = nullptr);
  // The same of a part of a graph, which outlives the run, too.
  StepRun(const GraphRange& range, const Stack& inputs, SymbolValues* symbols);

  size_t next_step() const { return next_step_; }
  bool is_done() const { return next_step_ == last_; }

  // Runs the next step. Throws ExecutionError, naming the node.
  void advance();

  // Goes on at `step`: somebody else made what the steps before it make, and set it.
  void skip_to(size_t step) { next_step_ = step; }
  void set(ValueId value, c10::IValue made) { values_[value] = std::move(made); }

  // What `value` is now; None before it is made, and when nobody reads it any more. What the node
  // that ran last made is there in any case.
  const c10::IValue& value(ValueId value) const { return values_[value]; }

  // One value for each output of the graph, when it is done.
  std::vector<c10::IValue> outputs() const;

 private:
  std::vector<c10::IValue> run_inner(const LoweredGraph& graph, const Stack& inputs) const;
  void check_results(const LoweredNode& node) const;

  const LoweredGraph& graph_;
  c10::ArrayRef<GraphPort> outputs_;
  size_t last_;
  SymbolValues* const symbols_;
  const BodyRunner* const run_body_ = nullptr;
  RunValues values_;
  // Scratch.
  Stack stack_;
  size_t next_step_ = 0;
};

// A StepRun from its begin to its end, and its outputs.
std::vector<c10::IValue> run_steps(const LoweredGraph& graph, const Stack& inputs,
                                   SymbolValues* symbols);

// What a caller of the graph gets of its results.
std::vector<at::Tensor> caller_outputs(const LoweredGraph& graph,
                                       const std::vector<c10::IValue>& results);

// As ExecutionPlan::run, or run_checked.
std::vector<at::Tensor> run_graph(const LoweredGraph& graph, const std::vector<at::Tensor>& inputs,
                                  bool is_checked);

// A number as a tensor of `dtype`.
at::Tensor as_tensor(const c10::IValue& value, c10::ScalarType dtype);

}  // namespace torch_ir
