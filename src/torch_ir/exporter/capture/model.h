// Model: anything that can be captured or serve as the reference of a verification.
//
// Converts implicitly from a torch::nn module (a holder such as `torch::nn::Linear`, a shared_ptr,
// or a reference, which is not owned and must outlive all copies) whose `forward` takes up to eight
// tensors and returns a tensor, or a vector, array, pair or tuple of what it may return; or from a
// callable with the signature of ModelFn. Outputs are flattened, without undefined tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <concepts>
#include <functional>
#include <memory>
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

// Whether `forward` may return T.
template <class T>
struct IsOutput : std::is_same<T, at::Tensor> {};
template <class T, class Allocator>
struct IsOutput<std::vector<T, Allocator>> : IsOutput<T> {};
template <class T, size_t N>
struct IsOutput<std::array<T, N>> : IsOutput<T> {};
template <class First, class Second>
struct IsOutput<std::pair<First, Second>> : std::conjunction<IsOutput<First>, IsOutput<Second>> {};
template <class... T>
struct IsOutput<std::tuple<T...>> : std::conjunction<IsOutput<T>...> {};

template <class T>
void append_outputs(const T& value, std::vector<at::Tensor>& outputs) {
  if constexpr (std::same_as<T, at::Tensor>) {
    if (value.defined()) outputs.push_back(value);
  } else if constexpr (requires { value.begin(); }) {
    for (const auto& item : value) append_outputs(item, outputs);
  } else {
    std::apply([&](const auto&... item) { (append_outputs(item, outputs), ...); }, value);
  }
}

using Tensors = std::vector<at::Tensor>;
inline constexpr size_t kMaxInputs = 8;

// The result of forward on one tensor for each index, or on all tensors in a vector.
template <class M, size_t... I>
auto call(M& module, const Tensors& inputs, std::index_sequence<I...>)
    -> std::remove_cvref_t<decltype(module.forward(inputs[I]...))> {
  return module.forward(inputs[I]...);
}
template <class M>
auto call(M& module, const Tensors& inputs, std::true_type)
    -> std::remove_cvref_t<decltype(module.forward(inputs))> {
  return module.forward(inputs);
}

template <class M, class Form>
concept Takes = requires(M& module, const Tensors& inputs) { call(module, inputs, Form()); };

template <class M, class Form>
concept Returns =
    Takes<M, Form> &&
    IsOutput<decltype(call(std::declval<M&>(), std::declval<const Tensors&>(), Form()))>::value;

template <class M, size_t... N>
constexpr bool takes_tensors(std::index_sequence<N...>) {
  return Takes<M, std::true_type> || (Takes<M, std::make_index_sequence<N + 1>> || ...);
}

template <class M, size_t... N>
constexpr bool returns_tensors(std::index_sequence<N...>) {
  return Returns<M, std::true_type> || (Returns<M, std::make_index_sequence<N + 1>> || ...);
}

// Calls forward if it takes `inputs` in this form.
template <class M, class Form>
bool try_forward(M& module, const Tensors& inputs, Form form, Tensors& outputs) {
  if constexpr (Returns<M, Form>) {
    append_outputs(call(module, inputs, form), outputs);
    return true;
  }
  return false;
}

// "forward takes 2 tensors, 1 given"
std::string wrong_number_of_inputs(const std::vector<bool>& is_taken, size_t given);

// Instantiates every number of inputs that forward accepts: it is known only at run time.
template <class M, size_t... N>
Tensors forward(M& module, const Tensors& inputs, std::index_sequence<N...>) {
  Tensors outputs;
  const bool has_run = ((inputs.size() == N + 1 &&
                         try_forward(module, inputs, std::make_index_sequence<N + 1>(), outputs)) ||
                        ...) ||
                       try_forward(module, inputs, std::true_type(), outputs);
  if (has_run) return outputs;
  throw ExportError(
      wrong_number_of_inputs({Returns<M, std::make_index_sequence<N + 1>>...}, inputs.size()));
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
  Model(Callable forward)
      : forward_([function = ModelFn(std::move(forward))](const std::vector<at::Tensor>& inputs) {
          internal::Tensors outputs;
          internal::append_outputs(function(inputs), outputs);
          return outputs;
        }) {}

  template <internal::ModuleHolderType Holder>
  Model(const Holder& holder) : Model(holder.ptr()) {}

  template <class M>
    requires std::derived_from<M, torch::nn::Module>
  Model(std::shared_ptr<M> module) : module_(module) {
    using Counts = std::make_index_sequence<internal::kMaxInputs>;
    constexpr bool takes_tensors = internal::takes_tensors<M>(Counts());
    static_assert(takes_tensors,
                  "The module needs a public forward that takes one to eight tensors, or a "
                  "std::vector<at::Tensor>.");
    if constexpr (takes_tensors) {
      static_assert(internal::returns_tensors<M>(Counts()),
                    "forward must return a tensor, or a std::vector, array, pair or tuple of what "
                    "it may return.");
    }
    forward_ = [module](const std::vector<at::Tensor>& inputs) {
      return internal::forward(*module, inputs, Counts());
    };
  }

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
