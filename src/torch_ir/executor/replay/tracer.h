// Tracer: records the operator calls that eager makes, down to the kernels.
//
// A dispatch mode. While it is on, each call of an operator runs as always and is recorded; calls
// that only take composite operators apart are replaced by the calls that they make.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "torch_ir/executor/trace/trace.h"
#include "torch_ir/operators/dispatch_mode.h"

namespace torch_ir {

// What can not be replayed: results whose shape or value depends on data, random numbers.
// Not a std::exception, which would be taken for the failure of a node.
struct TraceRefused {
  std::string reason;
};

class Tracer : public DispatchMode {
 public:
  explicit Tracer(bool fold_constants) : folds_constants_(fold_constants) {}

  // Before any call: what the calls will find.
  TensorId add_input(const at::Tensor& input);
  void add_constant(const at::Tensor& constant);

  // All calls from now on belong to this node of the graph.
  void begin_step(size_t step) { step_ = step; }

  void call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
            torch::jit::Stack* stack) override;

  // The tensor of a result.
  TensorId find(const at::Tensor& tensor);

  // Whether a call wrote to what was folded: then all is to be traced again without folding.
  bool wrote_to_folded() const { return wrote_to_folded_; }

  // What was recorded; the tracer is empty after. Throws TraceRefused when some of it can not be
  // replayed.
  Trace take();

 private:
  // What there was before a call.
  struct Mark {
    size_t num_calls;
    BufferId num_buffers;
  };

  void run_composite(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                     torch::jit::Stack* stack);
  TraceCall begin_call(const c10::OperatorHandle& op, const torch::jit::Stack& stack);
  void record_results(const torch::jit::Stack& stack, size_t first, TraceCall& call);
  bool is_explained(const Mark& mark, const TraceCall& call) const;
  void finish_call(TraceCall call, const Mark& mark, const torch::jit::Stack& stack, size_t first);
  bool fold(const TraceCall& call, const Mark& mark, const torch::jit::Stack& stack, size_t first);
  void note_writes(const TraceCall& call);

  TensorId add_opaque_tensor();
  bool is_opaque(TensorId tensor) const;
  BufferId buffer_of(const at::Tensor& tensor);
  TensorId id_of(const at::Tensor& tensor);
  void add_opaque_constant(const at::Tensor& constant);
  TensorId add_tensor(const at::Tensor& tensor, BufferId buffer);

  bool folds_constants_;
  bool wrote_to_folded_ = false;
  size_t step_ = 0;
  size_t folded_bytes_ = 0;
  Trace trace_;
  // Stand for what can not be replayed: tensors in layouts of oneDNN, values that depend on data.
  std::unordered_set<BufferId> opaque_buffers_;
  TensorTable<TensorId> tensors_;
  StorageTable<BufferId> buffers_;
};

}  // namespace torch_ir
