// IteratorMemory: the operands of a TensorIterator that a kernel builds once and uses in each run.
#pragma once

#include <ATen/TensorIterator.h>

#include <vector>

#include "torch_ir/runtime/kernels/kernel.h"

namespace torch_ir {

// Keeps the iterator valid between runs: updates its pointers when memory moves, and repeats its
// conversions of operands to the dtype it computes in when the operands change.
class IteratorMemory {
 public:
  // Call it after `iterator` was built for `call`. False if the iterator cannot be used alone: it
  // writes its results elsewhere first, or reads copies of arguments that the operator made.
  bool bind(const at::TensorIteratorBase& iterator, const KernelCall& call);

  void refresh() {
    if (!conversions_.empty()) convert();
  }

  void move(at::TensorIteratorBase& iterator, const c10::StorageImpl* storage) const;

 private:
  struct Operand {
    const c10::StorageImpl* storage;
    int64_t offset;
  };
  struct Conversion {
    at::Tensor from;
    at::Tensor to;
  };

  void convert();

  // One for each operand; the storage is null if the pointer never changes.
  std::vector<Operand> operands_;
  std::vector<Conversion> conversions_;
};

}  // namespace torch_ir
