// IteratorKernel: a kernel made of a TensorIterator, built once, and a computation over it.
#pragma once

#include <ATen/TensorIterator.h>

#include <memory>
#include <utility>
#include <vector>

#include "torch_ir/runtime/kernels/kernel.h"

namespace torch_ir {

// Keeps a TensorIterator valid between runs: updates its pointers when memory moves, and repeats
// its conversions of operands to the dtype it computes in when the operands change.
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

// Calls `Compute` with the iterator, which must own its operands (add_owned_output,
// add_owned_const_input), as a kernel outlives the call that it was prepared for.
template <class Compute>
class IteratorKernel final : public PreparedKernel {
 public:
  IteratorKernel(at::TensorIteratorConfig& config, Compute compute)
      : iterator_(config.build()), compute_(std::move(compute)) {}

  bool bind(const KernelCall& call) { return memory_.bind(iterator_, call); }

  void run() override {
    memory_.refresh();
    compute_(iterator_);
  }

  void on_moved(const c10::StorageImpl* storage) override { memory_.move(iterator_, storage); }

 private:
  at::TensorIterator iterator_;
  IteratorMemory memory_;
  Compute compute_;
};

// Null if the results do not fit the operands or are written elsewhere first.
template <class Compute>
std::unique_ptr<PreparedKernel> prepare_iterator(const KernelCall& call,
                                                 at::TensorIteratorConfig& config,
                                                 Compute compute) {
  try {
    auto kernel = std::make_unique<IteratorKernel<Compute>>(config, std::move(compute));
    if (!kernel->bind(call)) return nullptr;
    return kernel;
  } catch (const c10::Error&) {
    // The dispatcher reports the bad operands when the call is reached.
    return nullptr;
  }
}

}  // namespace torch_ir
