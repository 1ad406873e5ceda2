// Frame: the mutable state of one run of a trace.
//
// It holds memory for intermediate values, tensors over it, and a kernel for each call, prepared
// once. A run points inputs and outputs to the caller's memory and runs the kernels in order. One
// thread at a time may use a frame; several frames may share a trace.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "torch_ir/runtime/kernels/kernel.h"
#include "torch_ir/runtime/trace/trace.h"

namespace torch_ir {

// Memory for the outputs in one buffer. The caller owns returned outputs and may keep them during
// the next run, which then gets new memory; once the caller has released all of them, memory and
// tensors are used again.
class OutputMemory {
 public:
  OutputMemory(BufferId buffer, size_t bytes) : buffer_(buffer), bytes_(bytes) {}

  BufferId buffer() const { return buffer_; }

  // Memory for the next run, which only this object holds.
  void* take();

  // Output `id` of the run that wrote to the memory taken last, laid out as `traced`.
  at::Tensor tensor(TensorId id, const TraceTensor& traced);

 private:
  struct Returned {
    TensorId id;
    at::Tensor tensor;
    c10::DispatchKeySet keys;
  };

  bool is_unshared() const;

  BufferId buffer_;
  size_t bytes_;
  c10::Storage storage_;
  const void* data_ = nullptr;
  std::vector<Returned> returned_;
};

class Frame {
 public:
  Frame(std::shared_ptr<const Trace> trace, const std::vector<at::Tensor>& inputs,
        bool uses_kernels);
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  // Replaces `outputs`. Throws what an operator throws, and std::runtime_error if an operator
  // returns a tensor with a new layout. Adds the duration of each call to `seconds`, one element
  // for each call of the trace, and gives `on_value` the values of the trace.
  void run(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs,
           std::vector<double>* seconds = nullptr, const OnValue* on_value = nullptr);

  // One for each call, depending on its kernel.
  const std::vector<NeededMemory>& needs() const { return needs_; }

 private:
  struct Step {
    std::unique_ptr<PreparedKernel> kernel;
    size_t call;
  };
  struct InputBinding {
    size_t input;
    BufferId buffer;
  };
  enum class OutputSource {
    kConstant,
    // The output `index`: a tensor that the graph returns twice is one tensor for the caller.
    kOutput,
    // The input `index`, or a view of it.
    kInput,
    kInputView,
    kReturned,
    kMemory,
  };
  struct OutputBinding {
    OutputSource source;
    size_t index;
  };

  at::Tensor memory_for_returned() const;
  void make_storages(const std::vector<at::Tensor>& inputs, const at::Tensor& returned);
  void bind_outputs();
  const at::Tensor& tensor(TensorId id);
  c10::IValue argument(const TraceArgument& argument);
  KernelCall kernel_call(const TraceCall& call);
  void prepare(size_t index, bool uses_kernels);
  std::unique_ptr<PreparedKernel> returning_call(size_t index, const KernelCall& call);
  void add_step(size_t index, std::unique_ptr<PreparedKernel> kernel);

  void move(BufferId buffer, void* data);
  void take_outputs(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs);
  // Gives the values from `next` on that `num_calls` calls have made, and advances `next`.
  void tell_values(size_t& next, size_t num_calls, const OnValue& on_value);
  at::Tensor output(size_t index, const std::vector<at::Tensor>& inputs,
                    const std::vector<at::Tensor>& outputs);

  std::shared_ptr<const Trace> trace_;
  at::Tensor arena_;
  // One for each buffer of the trace; null for constants.
  std::vector<c10::Storage> storages_;
  // One for each tensor of the trace; undefined if no call uses it.
  std::vector<at::Tensor> tensors_;
  std::vector<Step> steps_;
  std::vector<std::vector<PreparedKernel*>> users_;
  std::vector<NeededMemory> needs_;
  std::vector<c10::Storage> returned_;
  std::vector<InputBinding> inputs_;
  std::vector<OutputMemory> output_memory_;
  std::vector<OutputBinding> outputs_;
};

}  // namespace torch_ir
