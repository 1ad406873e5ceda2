// Structured<Op>: a kernel made of ATen's structured kernel `Op`, such as structured_tanh_out.
//
// Its `meta` checks the arguments, lays out the results and prepares the iteration; its `impl`
// computes. Shapes in a frame never change, so `meta` runs once, and each run calls only `impl`.
//
// kOutFunction<f> and kInPlaceFunction<f>: kernels made of ATen's C++ functions that write to given
// tensors, such as at::native::slow_conv2d_forward_out_cpu and at::native::masked_fill__cpu. They
// prepare their iteration in every run; they save only dispatch and allocation.
#pragma once

#include <ATen/NativeFunctions.h>
#include <ATen/TensorIterator.h>
#include <ATen/TensorMeta.h>

#include <array>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "torch_ir/runtime/kernels/iterator_memory.h"
#include "torch_ir/runtime/kernels/kernel.h"
#include "torch_ir/runtime/kernels/kernel_arguments.h"

// Older versions of LibTorch, which have this header, pass names of dimensions.
#if __has_include(<ATen/core/Dimname.h>)
#define TORCH_IR_DIMENSION_NAMES , at::DimnameList names
#define TORCH_IR_PASS_DIMENSION_NAMES , names
#else
#define TORCH_IR_DIMENSION_NAMES
#define TORCH_IR_PASS_DIMENSION_NAMES
#endif

namespace torch_ir {

// Thrown if `meta` requires a different layout of a result than the frame has.
struct OtherLayout {};

template <class Op, size_t kNumOutputs>
class WithOutputs final : public Op {
 public:
  static constexpr bool kIterates = std::is_base_of_v<at::TensorIteratorBase, Op>;

  // Some of ATen's kernels (for half and bfloat16) remove an operand that is one number from the
  // iterator. The next run needs it again.
  void keep_operands() {
    if constexpr (kIterates) kept_operands_ = this->operands_;
  }
  void restore_operands() {
    if constexpr (kIterates) {
      if (this->operands_.size() != kept_operands_.size()) this->operands_ = kept_operands_;
    }
  }

  explicit WithOutputs(const KernelCall& call) {
    if (call.outputs.size() != kNumOutputs) throw OtherLayout();
    for (size_t i = 0; i < kNumOutputs; ++i) planned_[i] = call.outputs[i];
    if (is_in_place(call)) outputs_ = planned_;
  }

  void set_output_strided(int64_t index, at::IntArrayRef sizes, at::IntArrayRef strides,
                          at::TensorOptions options TORCH_IR_DIMENSION_NAMES) override {
    // Such a kernel needs these strides, in place too.
    define(index, sizes, strides, options, /*needs_strides=*/true);
    if constexpr (kIterates) {
      Op::set_output_raw_strided(index, sizes, strides, options TORCH_IR_PASS_DIMENSION_NAMES);
    }
  }

  void set_output_raw_strided(int64_t index, at::IntArrayRef sizes, at::IntArrayRef strides,
                              at::TensorOptions options TORCH_IR_DIMENSION_NAMES) override {
    define(index, sizes, strides, options, !outputs_[static_cast<size_t>(index)].defined());
    if constexpr (kIterates) {
      Op::set_output_raw_strided(index, sizes, strides, options TORCH_IR_PASS_DIMENSION_NAMES);
    }
  }

  const at::Tensor& maybe_get_output(int64_t index) override {
    return outputs_[static_cast<size_t>(index)];
  }

  const at::Tensor& output(size_t index) const { return outputs_[index]; }
  const std::array<at::Tensor, kNumOutputs>& outputs() const { return outputs_; }

 private:
  static bool is_in_place(const KernelCall& call) {
    return call.arguments[0].isTensor() && call.arguments[0].toTensor().is_same(call.outputs[0]);
  }

  void define(int64_t index, at::IntArrayRef sizes, at::IntArrayRef strides,
              const at::TensorOptions& options, bool needs_strides) {
    const at::Tensor& planned = planned_[static_cast<size_t>(index)];
    const bool fits = planned.defined() && planned.sizes() == sizes &&
                      (!options.has_dtype() || planned.dtype() == options.dtype()) &&
                      (!needs_strides || has_strides(planned, strides, options));
    if (!fits) throw OtherLayout();
    outputs_[static_cast<size_t>(index)] = planned;
  }

  static bool has_strides(const at::Tensor& tensor, at::IntArrayRef strides,
                          const at::TensorOptions& options) {
    if (tensor.numel() == 0) return true;
    if (!strides.empty()) return tensor.strides() == strides;
    const auto format = options.memory_format_opt().value_or(at::MemoryFormat::Contiguous);
    return tensor.is_contiguous(format);
  }

  c10::SmallVector<at::OperandInfo, 4> kept_operands_;
  std::array<at::Tensor, kNumOutputs> planned_;
  std::array<at::Tensor, kNumOutputs> outputs_;
};

template <class Function>
struct FunctionTraits;

template <class Result, class... Parameters>
struct FunctionTraits<Result (*)(Parameters...)> {
  using Tuple = std::tuple<Parameters...>;
  using Found = std::conditional_t<std::is_void_v<Result>, std::monostate, Result>;
};

template <class Op, class Result, class... Parameters>
struct FunctionTraits<Result (Op::*)(Parameters...)> : FunctionTraits<Result (*)(Parameters...)> {};

struct RunImpl {
  template <class Op, class... Arguments>
  static void impl(Op& op, const std::monostate& /*found*/, const Arguments&... arguments) {
    std::apply([&](const auto&... output) { op.impl(arguments..., output...); }, op.outputs());
  }
};

// `kNumOutputs` is that of the operator. If `meta` returns parameters of `impl`, Run::impl(op,
// found, arguments...) must call op.impl with `found`, the arguments of `meta`, and op.output(i).
template <class Op, size_t kNumOutputs = 1, class Run = RunImpl>
class Structured final : public PreparedKernel {
 public:
  static std::unique_ptr<PreparedKernel> prepare(const KernelCall& call) {
    try {
      auto kernel = std::make_unique<Structured>(call);
      return kernel->takes_call_ ? std::move(kernel) : nullptr;
    } catch (const OtherLayout&) {
      return nullptr;
    } catch (const c10::Error&) {
      // The dispatcher reports the bad arguments when the call is reached.
      return nullptr;
    }
  }

  explicit Structured(const KernelCall& call)
      : op_(call), arguments_(call.arguments), found_(call_meta()) {
    for (const at::Tensor& output : op_.outputs()) {
      if (!output.defined()) throw OtherLayout();
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
  using Traits = FunctionTraits<decltype(&Op::meta)>;
  using Parameters = typename Traits::Tuple;

  typename Traits::Found call_meta() {
    return std::apply(
        [this](const auto&... argument) -> typename Traits::Found {
          if constexpr (std::is_same_v<typename Traits::Found, std::monostate>) {
            op_.meta(argument.pass()...);
            return {};
          } else {
            return op_.meta(argument.pass()...);
          }
        },
        arguments_.kept);
  }

  WithOutputs<Op, kNumOutputs> op_;
  KeptArguments<Parameters, std::make_index_sequence<std::tuple_size_v<Parameters>>> arguments_;
  typename Traits::Found found_;
  IteratorMemory memory_;
  bool takes_call_ = true;
};

template <class Op, size_t kNumOutputs = 1, class Run = RunImpl>
constexpr PrepareKernel kStructured = &Structured<Op, kNumOutputs, Run>::prepare;

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

// Prepares `kFirst`, or `kSecond` for calls that it does not take.
template <PrepareKernel kFirst, PrepareKernel kSecond>
std::unique_ptr<PreparedKernel> prepare_either(const KernelCall& call) {
  std::unique_ptr<PreparedKernel> kernel = kFirst(call);
  return kernel != nullptr ? std::move(kernel) : kSecond(call);
}

template <PrepareKernel kFirst, PrepareKernel kSecond>
constexpr PrepareKernel kEither = &prepare_either<kFirst, kSecond>;

}  // namespace torch_ir
