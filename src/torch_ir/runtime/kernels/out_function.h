// kOutFunction<f> and kInPlaceFunction<f>: kernels made of ATen's C++ functions that write to given
// tensors, such as at::native::slow_conv2d_forward_out_cpu and at::native::masked_fill__cpu.
//
// Unlike Structured, they prepare their iteration in every run; they save only dispatch and
// allocation.
#pragma once

#include <memory>
#include <utility>

#include "torch_ir/runtime/kernels/kernel.h"
#include "torch_ir/runtime/kernels/kernel_arguments.h"

namespace torch_ir {

template <class Function>
struct FunctionTraits;

template <class Result, class... Parameters>
struct FunctionTraits<Result (*)(Parameters...)> {
  using Tuple = std::tuple<Parameters...>;
};

// `kFunction` takes the operator's arguments, then `kNumOutputs` results.
template <auto kFunction, size_t kNumOutputs>
std::unique_ptr<PreparedKernel> prepare_function(const KernelCall& call) {
  using Parameters = typename FunctionTraits<decltype(kFunction)>::Tuple;
  constexpr size_t kNumArguments = std::tuple_size_v<Parameters> - kNumOutputs;
  using Kept = KeptArguments<Parameters, std::make_index_sequence<kNumArguments>>;
  return make_kernel([outputs = call.outputs, arguments = Kept(call.arguments)]() mutable {
    const auto run = [&]<size_t... I>(std::index_sequence<I...>) {
      std::apply([&](auto&... argument) { kFunction(argument.pass()..., outputs[I]...); },
                 arguments.kept);
    };
    run(std::make_index_sequence<kNumOutputs>());
  });
}

template <auto kFunction, size_t kNumOutputs = 1>
constexpr PrepareKernel kOutFunction = &prepare_function<kFunction, kNumOutputs>;

template <auto kFunction>
constexpr PrepareKernel kInPlaceFunction = &prepare_function<kFunction, 0>;

}  // namespace torch_ir
