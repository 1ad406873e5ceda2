// OutputMemory: where a run writes its outputs.
//
// The caller owns what a run returned and may keep it while the next run goes on, so that one gets
// new memory; unless the caller has let go of all of it, then it is used again, tensors included.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "torch_ir/executor/replay/trace.h"

namespace torch_ir {

// A tensor laid out as `traced` is, over `storage`.
at::Tensor make_tensor(const c10::Storage& storage, const TraceTensor& traced);

// The memory of one buffer.
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

  BufferId buffer_;
  size_t bytes_;
  c10::Storage storage_;
  const void* data_ = nullptr;
  std::vector<Returned> returned_;
};

}  // namespace torch_ir
