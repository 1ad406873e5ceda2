// Runs a graph node by node, calling each operator through the dispatcher.
//
// Plans fall back on it, traces are recorded from it, and NodeRun shows its values.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/SmallVector.h>

#include <functional>
#include <utility>
#include <vector>

#include "torch_ir/runtime/graph/graph_range.h"
#include "torch_ir/runtime/graph/lowered_graph.h"

namespace torch_ir {

// Live values, by ValueId.
using RunValues = c10::SmallVector<c10::IValue, 64>;
using Stack = std::vector<c10::IValue>;

// Selects the kernels of InferenceMode, but results are ordinary tensors that callers can write to
// in place. Disables autocast, as graphs contain their casts.
class PlainKernelsGuard {
  at::NoGradGuard no_grad_;
  at::AutoDispatchBelowADInplaceOrView below_autograd_;
  c10::impl::ExcludeDispatchKeyGuard no_autocast_{c10::autocast_dispatch_keyset};
};

// The dispatch keys for a call: views of trainable weights are tracked, so that kernels that ask
// find them trainable too, as in a model that runs under no_grad.
c10::impl::LocalDispatchKeySet keys_for_call(c10::ArrayRef<c10::IValue> arguments);

// Explains in one line why a graph on `device` cannot take `input`: it is undefined, or its shape,
// dtype, layout or device differ. Empty if it can, as far as sizes are known.
std::string input_problem(const Value& declared, c10::Device device, const at::Tensor& input);
std::string input_count_problem(size_t expected, size_t actual);

// Whether an input lacks the strides that the graph reads (Value::strides).
bool lacks_strides(const LoweredGraph& graph, const std::vector<at::Tensor>& inputs);

// One value for each graph input, laid out with the strides that the graph reads. Throws
// ExecutionError with a problem_list that names the inputs that do not fit.
Stack input_values(const LoweredGraph& graph, const std::vector<at::Tensor>& inputs);

// Runs a graph of control flow in place of run_steps.
using BodyRunner =
    std::function<Stack(const LoweredGraph& graph, const Stack& inputs, SymbolValues* symbols)>;

// A run that advances node by node. Create and advance it under a PlainKernelsGuard.
class StepRun {
 public:
  // Takes one of `inputs` for each graph input, as from input_values. With `symbols`, node outputs
  // are compared with the IR as in ExecutionPlan::run_checked. Graph and symbols outlive the run.
  StepRun(const LoweredGraph& graph, const Stack& inputs, SymbolValues* symbols,
          const BodyRunner* run_body = nullptr);
  // As above, for a part of a graph, which outlives the run too.
  StepRun(const GraphRange& range, const Stack& inputs, SymbolValues* symbols);

  size_t next_step() const { return next_step_; }
  bool is_done() const { return next_step_ == last_; }

  // Throws ExecutionError, naming the node.
  void advance();

  // Takes `made` for what the next step makes, one value for each output of its node.
  void skip(const Stack& made);

  // Skips to `step`; the caller has set what the skipped steps make.
  void skip_to(size_t step) { next_step_ = step; }
  void set(ValueId value, c10::IValue made) { values_[value] = std::move(made); }

  // None before it is made and after its last read, but the values of the last node are always
  // there.
  const c10::IValue& value(ValueId value) const { return values_[value]; }

  // The outputs, once the run is done.
  Stack outputs() const;

 private:
  Stack run_inner(const LoweredGraph& graph, const Stack& inputs) const;
  void check_results(const LoweredNode& node) const;
  void drop_unread();

  const LoweredGraph& graph_;
  c10::ArrayRef<GraphPort> outputs_;
  size_t last_;
  SymbolValues* const symbols_;
  const BodyRunner* const run_body_ = nullptr;
  RunValues values_;
  Stack stack_;
  size_t next_step_ = 0;
};

Stack run_steps(const LoweredGraph& graph, const Stack& inputs, SymbolValues* symbols);

std::vector<at::Tensor> caller_outputs(const LoweredGraph& graph, const Stack& results);

// Numbers become tensors without dimensions; None is undefined.
at::Tensor as_tensor(const c10::IValue& value, c10::ScalarType dtype);

}  // namespace torch_ir
