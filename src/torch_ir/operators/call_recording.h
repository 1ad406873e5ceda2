// What dispatch modes share that record calls: the tensors of a call, its arguments with ids in
// place of tensors, and tables of what is known of tensors.
//
// For capture's Recorder and those who read its calls, for the executor's Tracer and for the Meta
// kernels.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/intrusive_ptr.h>

#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace torch_ir {

// Of the call of `op` on top of `stack`: before it has run, and after. They point into the stack.
c10::ArrayRef<c10::IValue> arguments_of(const c10::OperatorHandle& op,
                                        const torch::jit::Stack& stack);
c10::ArrayRef<c10::IValue> results_of(const c10::OperatorHandle& op,
                                      const torch::jit::Stack& stack);

// The argument called `name`, or null where the schema has none.
const c10::IValue* find_argument(const c10::FunctionSchema& schema,
                                 c10::ArrayRef<c10::IValue> arguments, std::string_view name);

// Calls `visit` with the tensors among `values`, those in lists one by one; undefined ones are left
// out.
void for_each_tensor(c10::ArrayRef<c10::IValue> values,
                     c10::function_ref<void(const at::Tensor&)> visit);
std::vector<at::Tensor> tensors_of(c10::ArrayRef<c10::IValue> values);

using TensorMap = std::function<at::Tensor(const at::Tensor&)>;

// `value` with `map` applied to its tensors, also those in lists. Undefined tensors stay.
c10::IValue map_tensors(const c10::IValue& value, const TensorMap& map);

// The items of a list of tensors; nothing where it holds None.
template <class Id>
struct RecordedList {
  std::vector<std::optional<Id>> items;
  // Whether the schema says `Tensor?[]`.
  bool holds_none = false;
};

// A tensor, a list of tensors, or any other value (None for a tensor that is absent).
template <class Id>
using RecordedArgument = std::variant<c10::IValue, Id, RecordedList<Id>>;

// `value` with the ids that `id_of` gives for its tensors.
template <class Id, class IdOf>
RecordedArgument<Id> record_argument(const c10::IValue& value, IdOf id_of) {
  if (value.isTensor()) {
    if (!value.toTensor().defined()) return c10::IValue();
    return id_of(value.toTensor());
  }
  const bool is_tensors = value.isTensorList();
  if (!is_tensors && !value.isOptionalTensorList()) return value;
  RecordedList<Id> list{{}, !is_tensors};
  for (const c10::IValue& item : value.toListRef()) {
    const bool is_present = item.isTensor() && item.toTensor().defined();
    list.items.push_back(is_present ? std::optional<Id>(id_of(item.toTensor())) : std::nullopt);
  }
  return list;
}

// Calls `visit` with the ids in `argument`, in order.
template <class Id, class Visit>
void for_each_id(const RecordedArgument<Id>& argument, Visit visit) {
  if (const Id* id = std::get_if<Id>(&argument)) visit(*id);
  if (const auto* list = std::get_if<RecordedList<Id>>(&argument)) {
    for (const std::optional<Id>& item : list->items) {
      if (item) visit(*item);
    }
  }
}

struct TensorAddress {
  using Weak = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

  static const void* of(const at::Tensor& tensor) { return tensor.unsafeGetTensorImpl(); }
  static Weak weak(const at::Tensor& tensor) { return Weak(tensor.getIntrusivePtr()); }
};

struct StorageAddress {
  using Weak = c10::weak_intrusive_ptr<c10::StorageImpl>;

  // Null for a tensor without a storage.
  static const void* of(const at::Tensor& tensor) {
    return tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl() : nullptr;
  }
  static Weak weak(const at::Tensor& tensor) { return tensor.storage().getWeakStorageImpl(); }
};

// What is known of tensors, or of their storages, by address. A weak reference is kept of each, so
// that no address is used twice; what they hold is let go of when the model does.
template <class Address, class Value>
class AddressTable {
 public:
  // Null where nothing is known.
  Value* find(const at::Tensor& tensor) { return find(Address::of(tensor)); }
  Value* find(const void* address) {
    const auto found = entries_.find(address);
    return found == entries_.end() ? nullptr : &found->second.value;
  }

  // What is known; `value` where that was nothing, which is the second result.
  std::pair<Value*, bool> insert(const at::Tensor& tensor, Value value) {
    const auto [entry, is_new] =
        entries_.try_emplace(Address::of(tensor), Entry{Address::weak(tensor), std::move(value)});
    return {&entry->second.value, is_new};
  }

 private:
  struct Entry {
    typename Address::Weak reference;
    Value value;
  };

  std::unordered_map<const void*, Entry> entries_;
};

template <class Value>
using TensorTable = AddressTable<TensorAddress, Value>;
template <class Value>
using StorageTable = AddressTable<StorageAddress, Value>;

}  // namespace torch_ir
