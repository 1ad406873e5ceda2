// IteratorKernel: a kernel made of a TensorIterator, built once, and what ATen runs over it.
//
// The iterator has to own its operands (add_owned_output, add_owned_const_input): a kernel lives
// longer than the call that it was prepared for.
#pragma once

#include <ATen/TensorIterator.h>

#include <memory>
#include <utility>

#include "torch_ir/executor/kernels/iterator_memory.h"
#include "torch_ir/executor/kernels/kernel.h"

namespace torch_ir {

// `Compute` is called with the iterator.
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

// Null where the results do not fit the operands, and where they are written elsewhere first.
template <class Compute>
std::unique_ptr<PreparedKernel> prepare_iterator(const KernelCall& call,
                                                 at::TensorIteratorConfig& config,
                                                 Compute compute) {
  try {
    auto kernel = std::make_unique<IteratorKernel<Compute>>(config, std::move(compute));
    if (!kernel->bind(call)) return nullptr;
    return kernel;
  } catch (const c10::Error&) {
    // Operands that the operator refuses: the dispatcher says so, when the call is reached.
    return nullptr;
  }
}

}  // namespace torch_ir
