// Recorder: the dispatch mode that records a model's operator calls as a graph.
//
// A tensor is identified by its TensorImpl, and its memory by its StorageImpl. Of every one seen a
// weak reference is kept until the end, so that no address is used twice; what they hold is let go
// of when the model does. Tensors fall into three kinds:
// - values: graph inputs, weights, constants, and what recorded calls return;
// - scratch: made during the capture by `aten::empty` on a real device, and what is computed from
//   scratch alone. This is how `torch::tensor({1, 2})` looks from here: memory that is then filled
//   behind the dispatcher's back. Calls on scratch run but are not recorded; scratch that meets a
//   value becomes a constant;
// - all others, which become constants when they are first used.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "torch_ir/exporter/capture/capture.h"
#include "torch_ir/exporter/capture/python_form.h"
#include "torch_ir/operators/dispatch_mode.h"

namespace torch_ir {

class Recorder : public DispatchMode {
 public:
  // On meta, tensors that are created without data stay without, and real tensors that the model
  // holds take part by shape only.
  explicit Recorder(bool on_meta) : on_meta_(on_meta) {}

  void add_input(InputKind kind, const std::string& name, const at::Tensor& tensor);

  // `tensor`, a constant that the model registered, becomes an input when it is first used.
  void name_constant(const std::string& name, const at::Tensor& tensor);

  void call(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) override;

  // To be called once, after the model ran: the recorded graph, which returns `outputs`. Its nodes
  // have all their arguments and no names (python_form.h).
  ExportedGraph finish(const std::vector<at::Tensor>& outputs);

  // The constants met, by name, as they were when they were first used.
  const StateDict& constants() const { return constants_; }

 private:
  using Arguments = c10::ArrayRef<c10::IValue>;

  // How a value lies in its memory.
  struct MemoryView {
    const c10::TensorImpl* tensor;
    c10::ScalarType dtype;
    int64_t offset;
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;

    bool shows(const at::Tensor& other) const;
  };

  // What values lie in: LibTorch's factories hand out shallow copies of what they made.
  struct Memory {
    std::vector<MemoryView> views = {};
    // Whether recorded calls returned it.
    bool is_computed = false;
  };

  // A scratch tensor that is a view: the call that made it from other scratch.
  struct View {
    c10::OperatorHandle op;
    torch::jit::Stack arguments;
  };

  bool runs_unrecorded(const c10::OperatorHandle& op, Arguments arguments);
  void call_unrecorded(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                       Arguments arguments);
  bool answer_question(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                       Arguments arguments);
  void call_recorded(const c10::OperatorHandle& op, torch::jit::Stack* stack, Arguments arguments);

  void move_to_meta(const c10::OperatorHandle& op, torch::jit::Stack* stack);
  at::Tensor twin_of(const at::Tensor& tensor);
  // The call of `op` as a node without outputs.
  ExportedNode trace_call(const c10::OperatorHandle& op, Arguments arguments);
  std::vector<ValueId> trace_outputs(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

  // The value that `tensor` is; makes it a constant when it is none yet.
  ValueId value_of(const at::Tensor& tensor);
  std::optional<ValueId> find_value(const at::Tensor& tensor);
  ValueId make_constant(const at::Tensor& tensor);
  ValueId replay_view(const at::Tensor& tensor, const View& view);
  ValueId add_value(const at::Tensor& tensor);
  bool is_scratch(const at::Tensor& tensor);

  const bool on_meta_;
  ExportedGraph graph_;
  StateDict constants_{"Constant"};
  std::vector<ExportedInput> constant_inputs_;
  size_t num_unnamed_constants_ = 0;

  TensorTable<ValueId> values_;
  StorageTable<Memory> memory_;
  TensorTable<std::optional<View>> scratch_;
  TensorTable<std::string> constant_names_;
  TensorTable<at::Tensor> twins_;
};

}  // namespace torch_ir
