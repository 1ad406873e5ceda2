// Storage for arguments of ATen's C++ kernels between calls: for each parameter type, how to keep
// an argument and how to pass it.
#pragma once

#include <ATen/TensorUtils.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>
#include <c10/util/OptionalArrayRef.h>

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch_ir {

// Numbers and dtypes, and optional ones, and optional tensors are passed as they are.
template <class Parameter>
struct KeptArgument {
  using Kept = std::decay_t<Parameter>;
  Kept kept;
  explicit KeptArgument(const c10::IValue& value) : kept(value.to<Kept>()) {}
  const Kept& pass() const { return kept; }
};

template <>
struct KeptArgument<const at::Tensor&> {
  at::Tensor kept;
  explicit KeptArgument(const c10::IValue& value) {
    if (!value.isNone()) kept = value.toTensor();
  }
  const at::Tensor& pass() const { return kept; }
};

template <>
struct KeptArgument<at::Tensor&> {
  at::Tensor kept;
  explicit KeptArgument(const c10::IValue& value) : kept(value.toTensor()) {}
  at::Tensor& pass() { return kept; }
};

template <>
struct KeptArgument<at::OptionalScalarRef> : KeptArgument<std::optional<at::Scalar>> {
  using KeptArgument<std::optional<at::Scalar>>::KeptArgument;
  at::OptionalScalarRef pass() const {
    return kept ? at::OptionalScalarRef(*kept) : at::OptionalScalarRef();
  }
};

template <>
struct KeptArgument<at::IntArrayRef> {
  std::vector<int64_t> kept;
  explicit KeptArgument(const c10::IValue& value) : kept(value.toIntVector()) {}
  at::IntArrayRef pass() const { return kept; }
};

template <>
struct KeptArgument<at::OptionalIntArrayRef> {
  std::optional<std::vector<int64_t>> kept;
  explicit KeptArgument(const c10::IValue& value) {
    if (!value.isNone()) kept = value.toIntVector();
  }
  at::OptionalIntArrayRef pass() const {
    return kept ? at::OptionalIntArrayRef(at::IntArrayRef(*kept)) : at::OptionalIntArrayRef();
  }
};

template <>
struct KeptArgument<std::string_view> {
  std::string kept;
  explicit KeptArgument(const c10::IValue& value) : kept(value.toStringRef()) {}
  std::string_view pass() const { return kept; }
};

template <>
struct KeptArgument<const at::ITensorListRef&> {
  std::vector<at::Tensor> kept;
  explicit KeptArgument(const c10::IValue& value) : kept(value.toTensorVector()) {}
  at::ITensorListRef pass() const { return at::ITensorListRef(at::TensorList(kept)); }
};

template <>
struct KeptArgument<at::IOptTensorListRef> {
  c10::List<std::optional<at::Tensor>> kept;
  explicit KeptArgument(const c10::IValue& value) : kept(value.toOptionalTensorList()) {}
  at::IOptTensorListRef pass() const { return at::IOptTensorListRef(kept); }
};

template <class Parameters, class Indices>
struct KeptArguments;

template <class Parameters, size_t... I>
struct KeptArguments<Parameters, std::index_sequence<I...>> {
  std::tuple<KeptArgument<std::tuple_element_t<I, Parameters>>...> kept;
  explicit KeptArguments(const std::vector<c10::IValue>& values)
      : kept(KeptArgument<std::tuple_element_t<I, Parameters>>(values[I])...) {}
};

}  // namespace torch_ir
