// IteratorKernel: a kernel made of a TensorIterator, built once, and what ATen runs over it.
#pragma once

#include <ATen/TensorIterator.h>

#include <memory>
#include <utility>
#include <vector>

#include "torch_ir/executor/kernels/kernel.h"

namespace torch_ir {

// What a TensorIterator that is built once needs from run to run. It keeps pointers, so it has to
// be told when memory moves, and copies of operands that it converted to the dtype it computes in,
// which have to be made again when the operands change.
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

// `Compute` is called with the iterator, which has to own its operands (add_owned_output,
// add_owned_const_input): a kernel lives longer than the call that it was prepared for.
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
