// Precomputed<Op, kNumOutputs, Run>: a kernel made of a structured kernel of ATen whose `meta`
// returns parameters of `impl`.
#pragma once

#include <memory>
#include <tuple>
#include <utility>

#include "torch_ir/executor/kernels/structured.h"

namespace torch_ir {

// Run::impl(op, found, arguments...) calls op.impl with what `meta` found, the arguments that
// `meta` had, and op.output(i).
template <class Op, size_t kNumOutputs, class Run>
class Precomputed final : public PreparedKernel {
 public:
  static std::unique_ptr<PreparedKernel> prepare(const KernelCall& call) {
    try {
      auto kernel = std::make_unique<Precomputed>(call);
      return kernel->takes_call_ ? std::move(kernel) : nullptr;
    } catch (const OtherLayout&) {
      return nullptr;
    } catch (const c10::Error&) {
      // As in Structured.
      return nullptr;
    }
  }

  explicit Precomputed(const KernelCall& call)
      : op_(call),
        arguments_(call.arguments),
        found_(std::apply([this](const auto&... argument) { return op_.meta(argument.pass()...); },
                          arguments_.kept)) {
    for (size_t i = 0; i < kNumOutputs; ++i) {
      if (!op_.output(i).defined()) throw OtherLayout();
    }
    if constexpr (decltype(op_)::kIterates) takes_call_ = memory_.bind(op_, call);
    op_.keep_operands();
  }

  void run() override {
    op_.restore_operands();
    memory_.refresh();
    std::apply([this](const auto&... argument) { Run::impl(op_, found_, argument.pass()...); },
               arguments_.kept);
  }

  void on_moved(const c10::StorageImpl* storage) override {
    if constexpr (decltype(op_)::kIterates) {
      op_.restore_operands();
      memory_.move(op_, storage);
      op_.keep_operands();
    }
  }

 private:
  using Parameters = typename ImplTraits<decltype(&Op::meta)>::Tuple;

  WithOutputs<Op, kNumOutputs> op_;
  KeptArguments<Parameters, std::make_index_sequence<std::tuple_size_v<Parameters>>> arguments_;
  typename Op::meta_return_ty found_;
  IteratorMemory memory_;
  bool takes_call_ = true;
};

}  // namespace torch_ir
