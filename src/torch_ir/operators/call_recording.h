// Helpers for dispatch modes that record calls: the tensors of a call, its arguments with ids in
// place of tensors, and tables by tensor.
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

// The arguments before `op` has run, and its results after. They point into the stack.
c10::ArrayRef<c10::IValue> arguments_of(const c10::OperatorHandle& op,
                                        const torch::jit::Stack& stack);
c10::ArrayRef<c10::IValue> results_of(const c10::OperatorHandle& op,
                                      const torch::jit::Stack& stack);

// Null if the schema has no such argument.
const c10::IValue* find_argument(const c10::FunctionSchema& schema,
                                 c10::ArrayRef<c10::IValue> arguments, std::string_view name);

// Visits the defined tensors among `values`, with lists flattened.
void for_each_tensor(c10::ArrayRef<c10::IValue> values,
                     c10::function_ref<void(const at::Tensor&)> visit);
std::vector<at::Tensor> tensors_of(c10::ArrayRef<c10::IValue> values);

using TensorMap = std::function<at::Tensor(const at::Tensor&)>;

// Applies `map` to the tensors of `value`, also those in lists. Undefined tensors stay.
c10::IValue map_tensors(const c10::IValue& value, const TensorMap& map);

// A list of tensors; an item is empty where the list holds None.
template <class Id>
struct RecordedList {
  std::vector<std::optional<Id>> items;
  // Whether the schema says `Tensor?[]`.
  bool holds_none = false;
};

// A tensor, a list of tensors, or any other value (None for a missing tensor).
template <class Id>
using RecordedArgument = std::variant<c10::IValue, Id, RecordedList<Id>>;

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

  static const void* of(const at::Tensor& tensor) {
    return tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl() : nullptr;
  }
  static Weak weak(const at::Tensor& tensor) { return tensor.storage().getWeakStorageImpl(); }
};

// Values by the address of a tensor or its storage. Weak references keep addresses from being
// reused, but not the data alive.
template <class Address, class Value>
class AddressTable {
 public:
  Value* find(const at::Tensor& tensor) { return find(Address::of(tensor)); }
  Value* find(const void* address) {
    const auto found = entries_.find(address);
    return found == entries_.end() ? nullptr : &found->second.value;
  }

  // Returns the value in the table, and whether it is new.
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
