// IteratorMemory: what a TensorIterator that is built once needs from run to run.
//
// An iterator keeps pointers, so it has to be told when memory moves, and copies of operands that
// it converted to the dtype it computes in, which have to be made again when the operands change.
#pragma once

#include <ATen/TensorIterator.h>

#include <vector>

#include "torch_ir/executor/kernels/kernel.h"

namespace torch_ir {

class IteratorMemory {
 public:
  // After `iterator` was built for `call`. False when it can not be used alone: it writes its
  // results elsewhere first, or reads copies that the operator itself made of its arguments.
  bool bind(const at::TensorIteratorBase& iterator, const KernelCall& call);

  // Converts again what the iterator converted when it was built.
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

  // One for each operand; the storage is null where the pointer stays.
  std::vector<Operand> operands_;
  std::vector<Conversion> conversions_;
};

}  // namespace torch_ir
