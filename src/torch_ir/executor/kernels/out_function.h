// kOutFunction<f> and kInPlaceFunction<f>: kernels made of ATen's C++ functions that write to given
// tensors, such as at::native::slow_conv2d_forward_out_cpu and at::native::masked_fill__cpu.
//
// Unlike Structured they prepare their iteration in every run, and they save only the dispatcher
// and the memory of the result.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "torch_ir/executor/kernels/kernel.h"
#include "torch_ir/executor/kernels/kernel_arguments.h"

namespace torch_ir {

template <class Function>
struct FunctionTraits;

template <class Result, class... Parameters>
struct FunctionTraits<Result (*)(Parameters...)> {
  using Tuple = std::tuple<Parameters...>;
};

// `kFunction` takes the operator's arguments, then `kNumOutputs` results.
template <auto kFunction, size_t kNumOutputs>
class FunctionKernel final : public PreparedKernel {
 public:
  static std::unique_ptr<PreparedKernel> prepare(const KernelCall& call) {
    return std::make_unique<FunctionKernel>(call);
  }

  explicit FunctionKernel(const KernelCall& call)
      : outputs_(call.outputs), arguments_(call.arguments) {}

  void run() override { run_with(std::make_index_sequence<kNumOutputs>()); }

 private:
  using Parameters = typename FunctionTraits<decltype(kFunction)>::Tuple;
  static constexpr size_t kNumArguments = std::tuple_size_v<Parameters> - kNumOutputs;

  template <size_t... I>
  void run_with(std::index_sequence<I...>) {
    std::apply([this](auto&... argument) { kFunction(argument.pass()..., outputs_[I]...); },
               arguments_.kept);
  }

  std::vector<at::Tensor> outputs_;
  KeptArguments<Parameters, std::make_index_sequence<kNumArguments>> arguments_;
};

template <auto kFunction, size_t kNumOutputs = 1>
constexpr PrepareKernel kOutFunction = &FunctionKernel<kFunction, kNumOutputs>::prepare;

template <auto kFunction>
constexpr PrepareKernel kInPlaceFunction = &FunctionKernel<kFunction, 0>::prepare;

}  // namespace torch_ir
