// Frame: what one run of a trace changes.
//
// Memory for intermediate values, tensors over it, and a kernel for each call, prepared once. A run
// points inputs and outputs to the caller's memory and runs the kernels one after another. One
// thread at a time may use a frame; several frames may run one trace.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "torch_ir/executor/kernels/kernel.h"
#include "torch_ir/executor/trace/trace.h"

namespace torch_ir {

// Where a run writes the outputs that lie in one buffer. The caller owns what a run returned and
// may keep it while the next run goes on, so that one gets new memory; unless the caller has let go
// of all of it, then it is used again, tensors included.
class OutputMemory {
 public:
  OutputMemory(BufferId buffer, size_t bytes) : buffer_(buffer), bytes_(bytes) {}

  BufferId buffer() const { return buffer_; }

  // Memory for the next run; nobody but this object has it.
  void* take();

  // The output that is `traced`, number `id`, of the run that wrote to what was taken last.
  at::Tensor tensor(TensorId id, const TraceTensor& traced);

 private:
  struct Returned {
    TensorId id;
    at::Tensor tensor;
    c10::DispatchKeySet keys;
  };

  bool is_unshared() const;
  void acquire_released() const;

  BufferId buffer_;
  size_t bytes_;
  c10::Storage storage_;
  const void* data_ = nullptr;
  std::vector<Returned> returned_;
};

class Frame {
 public:
  // `inputs` are laid out as they were when the trace was made. Kernels are looked for
  // when `uses_kernels`.
  Frame(std::shared_ptr<const Trace> trace, const std::vector<at::Tensor>& inputs,
        bool uses_kernels);
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  // Replaces `outputs`. Throws what an operator throws, and std::runtime_error when one returns a
  // tensor that is laid out in another way than before. Adds the seconds that each call took to
  // `seconds`, where it is given: one for each call of the trace.
  void run(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs,
           std::vector<double>* seconds = nullptr);

  // For each call, as the kernels that were found need it.
  const std::vector<NeededMemory>& needs() const { return needs_; }

 private:
  struct Step {
    std::unique_ptr<PreparedKernel> kernel;
    size_t call;
  };
  struct InputBinding {
    size_t input;
    BufferId buffer;
    const void* data;
  };
  // Where the caller gets an output from.
  enum class OutputSource {
    kConstant,
    // The output `index`: what is one tensor in the graph is one for the caller.
    kOutput,
    // The input `index`, or a view of it.
    kInput,
    kInputView,
    // What the operator that made the buffer `index` returned.
    kReturned,
    // The output memory `index`.
    kMemory,
  };
  struct OutputBinding {
    OutputSource source;
    size_t index;
  };

  at::Tensor memory_for_returned() const;
  void make_storages(const at::Tensor& returned);
  void bind_outputs();
  const at::Tensor& tensor(TensorId id);
  c10::IValue argument(const TraceArgument& argument);
  bool is_constant(const TraceArgument& argument) const;
  KernelCall kernel_call(const TraceCall& call);
  void prepare(size_t index, bool uses_kernels);
  std::unique_ptr<PreparedKernel> returning_call(size_t index, const KernelCall& call);
  void add_users(size_t index, PreparedKernel* kernel);
  void add_releases(size_t index);

  void move(BufferId buffer, void* data);
  void begin_run(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs);
  void end_run(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs);
  at::Tensor output(size_t index, const std::vector<at::Tensor>& inputs,
                    const std::vector<at::Tensor>& outputs);

  std::shared_ptr<const Trace> trace_;
  at::Tensor arena_;
  // One for each buffer of the trace; null for constants.
  std::vector<c10::Storage> storages_;
  // One for each tensor of the trace; undefined for those that no call uses.
  std::vector<at::Tensor> tensors_;
  std::vector<Step> steps_;
  // The kernels to tell when a buffer moves.
  std::vector<std::vector<PreparedKernel*>> users_;
  std::vector<NeededMemory> needs_;
  // What operators returned in this run, by buffer.
  std::vector<c10::Storage> returned_;
  std::vector<InputBinding> inputs_;
  std::vector<OutputMemory> output_memory_;
  std::vector<OutputBinding> outputs_;
};

}  // namespace torch_ir
