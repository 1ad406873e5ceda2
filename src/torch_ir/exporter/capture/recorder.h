// Recorder: the dispatch mode that records a model's operator calls as a graph.
//
// A TensorImpl identifies a tensor, and a StorageImpl its memory. Weak references keep their
// addresses from being reused, but not their data alive. There are three kinds of tensors:
// - values: graph inputs, weights, constants, and results of recorded calls;
// - scratch: made by `aten::empty` on a real device, or computed from scratch alone, as in
//   `torch::tensor({1, 2})`, which fills memory behind the dispatcher's back. Calls on scratch
//   run but are not recorded; scratch that meets a value becomes a constant;
// - all others, which become constants at their first use.
//
// At the end, memory that the model had before and wrote to is as it was.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "torch_ir/exporter/capture/lifted_constants.h"
#include "torch_ir/ir/program.h"
#include "torch_ir/operators/dispatch_mode.h"
#include "torch_ir/operators/kept_writes.h"

namespace torch_ir {

// The calls of a model on some inputs.
struct Recording {
  // Nodes have all their arguments and no names (python_form.h).
  Graph graph;
  // The constants by name, as they were at their first use.
  StateDict constants = StateDict();
  // Those of them that the run made, and so makes again in the next one.
  std::vector<std::string> made_constants = {};
};

class Recorder : public DispatchMode {
 public:
  // On meta, tensors have no data, and only the shapes of the model's real tensors count.
  explicit Recorder(bool on_meta) : on_meta_(on_meta) {}

  void add_input(InputKind kind, const std::string& name, const at::Tensor& tensor);

  // Makes a registered constant an input at its first use.
  void name_constant(const LiftedConstant& constant);

  void call(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) override;

  // Returns the graph that returns `outputs`. Call it once, after the model ran.
  Recording finish(const std::vector<at::Tensor>& outputs);

 private:
  using Arguments = c10::ArrayRef<c10::IValue>;

  struct MemoryView {
    const c10::TensorImpl* tensor;
    c10::ScalarType dtype;
    int64_t offset;
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;

    bool shows(const at::Tensor& other) const;
  };

  // LibTorch's factories return shallow copies, so a memory may have several views.
  struct Memory {
    std::vector<MemoryView> views = {};
    bool is_computed = false;
  };

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
  Node trace_call(const c10::OperatorHandle& op, Arguments arguments);
  std::vector<ValueId> trace_outputs(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

  // The value of `tensor`, which becomes a constant if it has none.
  ValueId value_of(const at::Tensor& tensor);
  std::optional<ValueId> find_value(const at::Tensor& tensor);
  ValueId make_constant(const at::Tensor& tensor);
  ValueId replay_view(const at::Tensor& tensor, const View& view);
  ValueId add_value(const at::Tensor& tensor);
  bool is_scratch(const at::Tensor& tensor);

  const bool on_meta_;
  Graph graph_;
  StateDict constants_{"Constant"};
  std::vector<GraphInput> constant_inputs_;
  std::vector<std::string> made_constants_;
  size_t num_unnamed_constants_ = 0;

  TensorTable<ValueId> values_;
  StorageTable<Memory> memory_;
  TensorTable<std::optional<View>> scratch_;
  TensorTable<LiftedConstant> registered_constants_;
  TensorTable<at::Tensor> twins_;
  KeptWrites kept_;
};

}  // namespace torch_ir
