// Calls of PyTorch's own classes and functions.
#include <fmt/format.h>

#include <utility>

#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/weights/pickle_call.h"

namespace torch_ir {
namespace {

using Name = PickleValue::Name;
using Tuple = PickleValue::Tuple;

constexpr std::string_view kTorch = "torch.";
// What a tensor costs that is made in a few bytes of a pickle, roughly.
constexpr size_t kTensorCost = 512;

std::vector<int64_t> get_integers(const PickleCall& call, size_t index) {
  std::vector<int64_t> integers;
  for (const PickleValue* item : get_argument<Tuple>(call, index).items) {
    const auto* integer = item->get_if<int64_t>();
    if (integer == nullptr) fail_argument(call, index);
    integers.push_back(*integer);
  }
  return integers;
}

bool holds_tensor(const PickleValue& value) {
  const auto* unsupported = value.get_if<PickleValue::Unsupported>();
  return value.get_if<at::Tensor>() != nullptr ||
         (unsupported != nullptr && unsupported->is_tensor);
}

// The mathematical bits of a tensor: {"conj": True}.
void read_bits(const PickleCall& call, size_t index, PendingTensor& tensor) {
  if (index >= call.arguments.size() || call.arguments[index]->is_none()) return;
  for (const auto& [key, value] : get_argument<PickleValue::Dict>(call, index).items) {
    const auto* name = key->get_if<std::string>();
    const auto* bit = value->get_if<bool>();
    if (name == nullptr || bit == nullptr || (*name != "conj" && *name != "neg")) {
      fail_argument(call, index);
    }
    (*name == "conj" ? tensor.is_conjugate : tensor.is_negative) = *bit;
  }
}

// What only these dtypes can have.
void check_bits(const PickleCall& call, const PendingTensor& tensor) {
  const c10::ScalarType dtype = tensor.view.dtype;
  if ((tensor.is_conjugate && !c10::isComplexType(dtype)) ||
      (tensor.is_negative && !c10::isFloatingType(dtype))) {
    fail_call(call, "bits that a tensor of " + dtype_name(dtype) + " does not have");
  }
}

// The view that the first four arguments describe: storage, offset, sizes, strides.
PendingTensor read_view(const PickleCall& call) {
  PendingTensor tensor;
  call.arena.charge(kTensorCost);
  tensor.storage = get_argument<PickleValue::Storage>(call, 0).number;
  tensor.view.storage_offset = get_argument<int64_t>(call, 1);
  tensor.view.sizes = get_integers(call, 2);
  tensor.view.strides = get_integers(call, 3);
  return tensor;
}

PickleValue* note_tensor(const PickleCall& call, PendingTensor tensor) {
  if (call.tensors.storages[tensor.storage].location == "meta") {
    return call.arena.make({PickleValue::Unsupported{"a tensor on the meta device", true}});
  }
  check_bits(call, tensor);
  tensor.value = call.arena.make({at::Tensor()});
  call.tensors.tensors.push_back(std::move(tensor));
  return call.tensors.tensors.back().value;
}

PickleValue* note_typed_tensor(const PickleCall& call, PendingTensor tensor) {
  const auto dtype = call.tensors.storages[tensor.storage].dtype;
  if (!dtype) fail_call(call, "a storage without a dtype");
  if (c10::isQIntType(*dtype)) {
    return call.arena.make({PickleValue::Unsupported{"a quantized tensor", true}});
  }
  tensor.view.dtype = *dtype;
  return note_tensor(call, std::move(tensor));
}

}  // namespace

PickleValue* call_size(const PickleCall& call) {
  check_count(call, 0, 1);
  if (call.arguments.empty()) return call.arena.make({Tuple()});
  get_integers(call, 0);
  return call.arguments[0];
}

PickleValue* call_device(const PickleCall& call) {
  check_count(call, 1, 2);
  std::string text = get_argument<std::string>(call, 0);
  if (call.arguments.size() == 2) text += fmt::format(":{}", get_argument<int64_t>(call, 1));
  call.arena.charge(text.size());
  return call.arena.make({PickleValue::Device{std::move(text)}});
}

PickleValue* call_layout(const PickleCall& call) {
  check_count(call, 1, 1);
  const auto& name = get_argument<std::string>(call, 0);
  if (!name.starts_with(kTorch) || !find_layout(std::string_view(name).substr(kTorch.size()))) {
    fail_call(call, fmt::format("the unknown layout '{}'", printable(name)));
  }
  return call.arena.make({Name{name}});
}

PickleValue* call_parameter(const PickleCall& call) {
  check_count(call, 1, 4);
  if (!holds_tensor(*call.arguments[0])) fail_argument(call, 0);
  return call.arguments[0];
}

PickleValue* call_first_argument(const PickleCall& call) {
  check_count(call, 1, 2);
  return call.arguments[0];
}

PickleValue* call_rebuild_tensor(const PickleCall& call) {
  check_count(call, 4, 4);
  return note_typed_tensor(call, read_view(call));
}

// Behind the view: requires_grad, hooks, bits.
PickleValue* call_rebuild_tensor_v2(const PickleCall& call) {
  check_count(call, 6, 7);
  PendingTensor tensor = read_view(call);
  read_bits(call, 6, tensor);
  return note_typed_tensor(call, std::move(tensor));
}

// Behind the view: requires_grad, hooks, dtype, bits. The storage is untyped.
PickleValue* call_rebuild_tensor_v3(const PickleCall& call) {
  check_count(call, 7, 8);
  PendingTensor tensor = read_view(call);
  const std::string& name = get_argument<Name>(call, 6).text;
  if (!name.starts_with(kTorch)) fail_argument(call, 6);
  const auto dtype = find_dtype(std::string_view(name).substr(kTorch.size()));
  if (!dtype) {
    return call.arena.make({PickleValue::Unsupported{"a tensor of dtype " + name, true}});
  }
  tensor.view.dtype = *dtype;
  read_bits(call, 7, tensor);
  return note_tensor(call, std::move(tensor));
}

// A tensor with attributes of its own: function, class, arguments of the function, attributes.
PickleValue* call_rebuild_from_type(const PickleCall& call) {
  check_count(call, 4, 4);
  const PickleGlobal* function = find_pickle_global(get_argument<Name>(call, 0).text);
  const bool is_nested = function != nullptr && function->call == call_rebuild_from_type;
  if (function == nullptr || function->call == nullptr || is_nested) fail_argument(call, 0);
  PickleItems arguments;
  for (const PickleValue* item : get_argument<Tuple>(call, 2).items) {
    // All values of a pickle are made, and still owned, by the one who reads it.
    arguments.push_back(const_cast<PickleValue*>(item));
  }
  PickleValue* result = function->call({function->name, arguments, call.arena, call.tensors});
  if (!holds_tensor(*result)) fail_argument(call, 0);
  return result;
}

}  // namespace torch_ir
