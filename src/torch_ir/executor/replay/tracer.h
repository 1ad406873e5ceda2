// Tracer: records the operator calls that eager makes, down to the kernels.
//
// A dispatch mode. While it is on, each call of an operator runs as always and is recorded; calls
// that only take composite operators apart are replaced by the calls that they make.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "torch_ir/executor/graph/graph_range.h"
#include "torch_ir/executor/trace/trace.h"
#include "torch_ir/operators/dispatch_mode.h"

namespace torch_ir {

// What can not be replayed: results whose shape or value depends on data, random numbers.
// Not a std::exception, which would be taken for the failure of a node.
struct TraceRefused {
  // "it draws random numbers"; of the node.
  std::string reason;
  // The node that can not be replayed; nothing where it is not one node.
  std::optional<size_t> step;
};

// Calls of one graph by the order in which it makes them.
using CallNumbers = std::set<size_t>;

class Tracer : public DispatchMode {
 public:
  // What depends on constants only becomes a constant, but for the results of the calls
  // `unfolded`; no more than a little without `fold_constants`.
  Tracer(bool fold_constants, CallNumbers unfolded)
      : folds_constants_(fold_constants), unfolded_(std::move(unfolded)) {}

  // Before any call: what the calls will find.
  TensorId add_input(const at::Tensor& input);
  void add_constant(const at::Tensor& constant);

  // All calls from now on belong to this node of the graph; those before the first one to the node
  // that uses their results first.
  void begin_step(size_t step) { step_ = step; }

  void call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
            torch::jit::Stack* stack) override;

  // The tensor of a result.
  TensorId find(const at::Tensor& tensor);

  // Says that whoever gets the results writes to the memory of this one.
  void note_later_write(TensorId tensor);

  // The calls whose results are written to after they were folded: then all is to be traced again,
  // with these unfolded too.
  const CallNumbers& wrongly_folded() const { return wrongly_folded_; }

  // What was recorded, up to `outputs`; the tracer is empty after. Throws TraceRefused when some
  // of it can not be replayed.
  Trace take(std::vector<TensorId> outputs);

 private:
  // What there was before a call.
  struct Mark {
    size_t num_calls;
    BufferId num_buffers;
  };

  void record(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);
  void run_composite(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                     torch::jit::Stack* stack);
  TraceCall begin_call(const c10::OperatorHandle& op, const torch::jit::Stack& stack);
  void record_results(const torch::jit::Stack& stack, size_t first, TraceCall& call);
  bool is_explained(const Mark& mark, const TraceCall& call) const;
  void finish_call(TraceCall call, const Mark& mark, const torch::jit::Stack& stack, size_t first);
  bool fold(const TraceCall& call, size_t number, const Mark& mark, const torch::jit::Stack& stack,
            size_t first);
  void note_writes(const TraceCall& call);

  [[noreturn]] void refuse(std::string reason) const;
  TensorId add_opaque_tensor(const char* reason);
  bool is_opaque(TensorId tensor) const;
  void check_plain_calls() const;
  void set_steps_of_first_calls();
  BufferId buffer_of(const at::Tensor& tensor);
  TensorId id_of(const at::Tensor& tensor);
  TensorId add_tensor(const at::Tensor& tensor, BufferId buffer);

  bool folds_constants_;
  CallNumbers unfolded_;
  CallNumbers wrongly_folded_;
  std::optional<size_t> step_;
  size_t num_calls_ = 0;
  size_t folded_bytes_ = 0;
  Trace trace_;
  // Stand for what can not be replayed, and why: tensors in layouts of oneDNN, values that depend
  // on data.
  std::unordered_map<BufferId, const char*> opaque_buffers_;
  // The call that made what was folded.
  std::unordered_map<BufferId, size_t> folded_by_;
  TensorTable<TensorId> tensors_;
  StorageTable<BufferId> buffers_;
};

struct TraceOptions {
  bool fold_constants = true;
  // Where given, outputs of nodes that are not what the IR says are errors.
  SymbolValues* symbols = nullptr;
};

// The trace of a graph, or of a part of one, for inputs of one layout, by running it once with a
// Tracer. `inputs` are one for each input of the range, numbers as tensors; they stay as they are.
// Throws TraceRefused where it cannot be replayed, and ExecutionError as a run does.
Trace trace_graph(const GraphRange& range, const std::vector<at::Tensor>& inputs,
                  const TraceOptions& options);

}  // namespace torch_ir
