// Recorder: the dispatch mode that records a model's operator calls as a TracedGraph.
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
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "torch_ir/exporter/capture/traced_graph.h"
#include "torch_ir/operators/dispatch_mode.h"

namespace torch_ir {

// A call of the model that is recorded, or brings values into the graph.
struct RecordedCall {
  // Which of all calls it is, those that are not recorded included.
  size_t number;
  c10::OperatorName op;
  // Tensors among its arguments that became values with it, by their place among all of them:
  // constants, mostly.
  std::vector<std::pair<size_t, ValueId>> arguments;
  // One for each tensor that it returns.
  std::vector<ValueId> outputs;
};

// The tensors in `values`, those in lists one by one; undefined ones left out.
std::vector<at::Tensor> tensors_of(const torch::jit::Stack& values);

class Recorder : public DispatchMode {
 public:
  // On meta, tensors that are created without data stay without, and real tensors that the model
  // holds take part by shape only.
  explicit Recorder(bool on_meta) : on_meta_(on_meta) {}

  void add_input(InputKind kind, const std::string& name, const at::Tensor& tensor);

  // `tensor`, a constant that the model registered, becomes an input when it is first used.
  void name_constant(const std::string& name, const at::Tensor& tensor);

  void call(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) override;

  // To be called once, after the model ran: the recorded graph, which returns `outputs`.
  TracedGraph finish(const std::vector<at::Tensor>& outputs);

  // The constants met, by name, as they were when they were first used.
  const StateDict& constants() const { return constants_; }

  // In order.
  const std::vector<RecordedCall>& calls() const { return calls_; }

 private:
  // How a value lies in its memory.
  struct MemoryView {
    const c10::TensorImpl* tensor;
    c10::ScalarType dtype;
    int64_t offset;
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;

    bool shows(const at::Tensor& other) const;
  };

  // A scratch tensor that is a view: the call that made it from other scratch.
  struct View {
    c10::OperatorHandle op;
    std::vector<c10::IValue> arguments;
  };

  bool runs_unrecorded(const c10::OperatorHandle& op, const torch::jit::Stack& arguments) const;
  void call_unrecorded(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                       const torch::jit::Stack& arguments);
  bool answer_question(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                       const torch::jit::Stack& arguments);
  void call_recorded(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                     const torch::jit::Stack& arguments);

  void move_to_meta(const c10::OperatorHandle& op, torch::jit::Stack* stack);
  c10::IValue meta_twin(const c10::IValue& argument);
  TracedArgument trace_argument(const c10::IValue& argument);
  std::vector<ValueId> trace_outputs(const torch::jit::Stack& stack, size_t num_returns);

  // The value that `tensor` is; makes it a constant when it is none yet.
  ValueId value_of(const at::Tensor& tensor);
  std::optional<ValueId> find_value(const at::Tensor& tensor);
  ValueId make_constant(const at::Tensor& tensor);
  ValueId replay_view(const at::Tensor& tensor, const View& view);
  ValueId add_value(const at::Tensor& tensor);
  void keep_address(const at::Tensor& tensor);
  bool is_scratch(const at::Tensor& tensor) const;

  const bool on_meta_;
  TracedGraph graph_;
  StateDict constants_{"Constant"};
  std::vector<TracedInput> constant_inputs_;
  size_t num_unnamed_constants_ = 0;
  std::vector<RecordedCall> calls_;
  size_t num_calls_ = 0;

  std::unordered_map<const c10::TensorImpl*, ValueId> values_;
  // Values by their memory: LibTorch's factories hand out shallow copies of what they made.
  std::unordered_map<const c10::StorageImpl*, std::vector<MemoryView>> values_by_storage_;
  // The memory of what recorded calls returned.
  std::unordered_set<const c10::StorageImpl*> computed_storages_;
  std::unordered_map<const c10::TensorImpl*, std::optional<View>> scratch_;
  std::unordered_map<const c10::TensorImpl*, std::string> constant_names_;
  std::unordered_map<const c10::TensorImpl*, at::Tensor> twins_;
  std::vector<c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>> tensors_;
  std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> storages_;
};

}  // namespace torch_ir
