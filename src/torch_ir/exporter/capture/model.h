// Model: anything that can be captured or serve as the reference of a verification.
//
// Converts implicitly from a torch::nn module (a holder such as `torch::nn::Linear`, a shared_ptr,
// or a reference, which must outlive the Model) whose `forward` takes up to eight tensors and
// returns a tensor, a vector, or a (nested) tuple of them; or from a callable with the signature of
// ModelFn. Outputs are flattened in order, without undefined tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"

namespace torch::nn {
class Module;
}

namespace torch_ir {

using ModelFn = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

namespace internal {

inline void append_outputs(const at::Tensor& tensor, std::vector<at::Tensor>& outputs) {
  if (tensor.defined()) outputs.push_back(tensor);
}
inline void append_outputs(const std::vector<at::Tensor>& tensors,
                           std::vector<at::Tensor>& outputs) {
  for (const at::Tensor& tensor : tensors) append_outputs(tensor, outputs);
}
template <class... T>
void append_outputs(const std::tuple<T...>& values, std::vector<at::Tensor>& outputs) {
  std::apply([&](const auto&... value) { (append_outputs(value, outputs), ...); }, values);
}

template <class Result>
std::vector<at::Tensor> flatten_outputs(const Result& result) {
  std::vector<at::Tensor> outputs;
  append_outputs(result, outputs);
  return outputs;
}

inline constexpr size_t kMaxInputs = 8;

// Instantiates every number of inputs that forward accepts: it is known only at run time.
template <class M, size_t... I>
bool try_forward(M& module, const std::vector<at::Tensor>& inputs,
                 std::optional<std::vector<at::Tensor>>& outputs, std::index_sequence<I...>) {
  if constexpr (requires { flatten_outputs(module.forward(inputs[I]...)); }) {
    if (inputs.size() == sizeof...(I)) {
      outputs = flatten_outputs(module.forward(inputs[I]...));
      return true;
    }
  }
  return false;
}

template <class M, size_t... N>
std::vector<at::Tensor> forward(M& module, const std::vector<at::Tensor>& inputs,
                                std::index_sequence<N...>) {
  std::optional<std::vector<at::Tensor>> outputs;
  if ((try_forward(module, inputs, outputs, std::make_index_sequence<N + 1>()) || ...)) {
    return std::move(*outputs);
  }
  if constexpr (requires { flatten_outputs(module.forward(inputs)); }) {
    return flatten_outputs(module.forward(inputs));
  }
  throw ExportError("wrong number of inputs for the model's forward: " +
                    std::to_string(inputs.size()));
}

template <class T>
concept ModuleHolderType = requires(const T& holder) {
  typename T::ContainedType;
  { holder.ptr() } -> std::convertible_to<std::shared_ptr<torch::nn::Module>>;
};

}  // namespace internal

class Model {
 public:
  // Check for holders first: a concept cannot test which arguments a holder accepts.
  template <class Callable>
    requires(!internal::ModuleHolderType<Callable> && !std::same_as<Callable, Model> &&
             std::convertible_to<Callable, ModelFn>)
  Model(Callable forward) : forward_(std::move(forward)) {}

  template <internal::ModuleHolderType Holder>
  Model(const Holder& holder) : Model(holder.ptr()) {}

  template <class M>
    requires std::derived_from<M, torch::nn::Module>
  Model(std::shared_ptr<M> module)
      : forward_([module](const std::vector<at::Tensor>& inputs) {
          return internal::forward(*module, inputs,
                                   std::make_index_sequence<internal::kMaxInputs>());
        }),
        module_(module) {}

  template <class M>
    requires std::derived_from<M, torch::nn::Module>
  Model(M& module) : Model(std::shared_ptr<M>(std::shared_ptr<void>(), &module)) {}

  std::vector<at::Tensor> operator()(const std::vector<at::Tensor>& inputs) const {
    return forward_(inputs);
  }

  const ModelFn& forward() const { return forward_; }
  // Null for a plain callable.
  const std::shared_ptr<torch::nn::Module>& module() const { return module_; }

 private:
  ModelFn forward_;
  std::shared_ptr<torch::nn::Module> module_;
};

// "Linear" for torch::nn::LinearImpl; empty for a plain callable.
std::string class_name(const Model& model);

}  // namespace torch_ir
