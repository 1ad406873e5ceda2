// Tracer: a dispatch mode that records the operator calls of eager, down to the kernels.
//
// Each call runs as usual and is recorded; calls of composite operators are replaced by the calls
// that they make.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "torch_ir/operators/dispatch_mode.h"
#include "torch_ir/runtime/graph/graph_range.h"
#include "torch_ir/runtime/trace/trace.h"

namespace torch_ir {

// Thrown for graphs that cannot be replayed: results whose shape or value depends on data, random
// numbers. Not a std::exception, which would be taken for the failure of a node.
struct TraceRefused {
  // "it draws random numbers", where "it" is the node.
  std::string reason;
  // The node that cannot be replayed, if it is a single one.
  std::optional<size_t> step;
};

using CallNumbers = std::set<size_t>;

class Tracer : public DispatchMode {
 public:
  // Folds calls that depend only on constants, except the calls `unfolded`; without
  // `fold_constants`, folds very little.
  Tracer(bool fold_constants, CallNumbers unfolded)
      : folds_constants_(fold_constants), unfolded_(std::move(unfolded)) {}

  // Call it before the calls that use `input`.
  TensorId add_input(const at::Tensor& input);
  void add_constant(const at::Tensor& constant);

  // Assigns the calls from now on to this node; earlier calls belong to the node that uses their
  // results first.
  void begin_step(size_t step) { step_ = step; }

  void call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
            torch::jit::Stack* stack) override;

  TensorId id_of(const at::Tensor& tensor);

  // Adds a value that the current node has made to those of the trace.
  void note_value(ValueId value, const c10::IValue& made, c10::ScalarType dtype);

  // Notes that code after the trace writes to the memory of this result.
  void note_later_write(TensorId tensor);

  // Folded calls whose results were written to later: trace again with these unfolded too.
  const CallNumbers& wrongly_folded() const { return wrongly_folded_; }

  // Returns the recording up to `outputs` and empties the tracer. Throws TraceRefused if some of it
  // cannot be replayed.
  Trace take(std::vector<TensorId> outputs);

 private:
  // What there was before a call.
  struct Mark {
    size_t num_calls;
    BufferId num_buffers;
  };

  void record(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);
  void record_results(c10::ArrayRef<c10::IValue> results, TraceCall& call);
  bool is_explained(const Mark& mark, const TraceCall& call) const;
  void finish_call(TraceCall call, const Mark& mark, c10::ArrayRef<c10::IValue> results);
  bool fold(const TraceCall& call, size_t number, const Mark& mark,
            c10::ArrayRef<c10::IValue> results);
  void note_writes(const TraceCall& call);

  [[noreturn]] void refuse(std::string reason) const;
  TensorId add_opaque_tensor(const char* reason);
  bool is_opaque(TensorId tensor) const;
  void check_plain_calls() const;
  void set_steps_of_first_calls();
  BufferId buffer_of(const at::Tensor& tensor);
  TensorId add_tensor(const at::Tensor& tensor, BufferId buffer);

  bool folds_constants_;
  CallNumbers unfolded_;
  CallNumbers wrongly_folded_;
  std::optional<size_t> step_;
  size_t num_calls_ = 0;
  size_t folded_bytes_ = 0;
  // Constants that folded results have taken the place of.
  std::unordered_set<BufferId> replaced_;
  Trace trace_;
  // Values that cannot be replayed, and why: tensors in layouts of oneDNN, values that depend on
  // data.
  std::unordered_map<BufferId, const char*> opaque_buffers_;
  std::unordered_map<BufferId, size_t> folded_by_;
  TensorTable<TensorId> tensors_;
  StorageTable<BufferId> buffers_;
};

struct TraceOptions {
  bool fold_constants = true;
  bool keeps_values = false;
  // If given, node outputs are compared with the IR, as in ExecutionPlan::run_checked.
  SymbolValues* symbols = nullptr;
};

// Traces a range for inputs of one layout by running it once. `inputs` has one tensor for each
// input of the range, numbers included, and is not changed. Throws TraceRefused if the range cannot
// be replayed, and ExecutionError as a run does.
Trace trace_graph(const GraphRange& range, const std::vector<at::Tensor>& inputs,
                  const TraceOptions& options);

}  // namespace torch_ir
