#include "torch_ir/weights/torch_rules.h"

#include <fmt/format.h>

#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/weights/pickle_globals.h"

namespace torch_ir {
namespace {

using Name = PickleValue::Name;
using Object = PickleValue::Object;

constexpr size_t kStorageCost = 256;

struct RenamedModule {
  std::string_view old_name, new_name;
};

// Protocol 2 has the names of Python 2; PyTorch moved its tensors once.
constexpr RenamedModule kRenamedModules[] = {
    {"__builtin__", "builtins"}, {"copy_reg", "copyreg"}, {"torch.tensor", "torch._tensor"}};

std::string_view current_module(std::string_view module) {
  for (const RenamedModule& renamed : kRenamedModules) {
    if (module == renamed.old_name) return renamed.new_name;
  }
  return module;
}

bool is_script_class(std::string_view name) { return name.starts_with("__torch__."); }

[[noreturn]] void fail_storage(const PickleValue& id) {
  throw WeightError("is damaged: its pickle has " + id.kind() + " that is no id of a storage");
}

// The items of an id: "storage", class, key, location, number of elements, and in the legacy format
// where a view of it begins.
const std::vector<PickleValue::Pointer>& id_items(const PickleValue& id) {
  const auto* tuple = id.get_if<PickleValue::Tuple>();
  if (tuple == nullptr || tuple->items.size() < 5 || tuple->items.size() > 6) fail_storage(id);
  const auto* kind = tuple->items[0]->get_if<std::string>();
  if (kind == nullptr || *kind != "storage") fail_storage(id);
  return tuple->items;
}

// Views are (key, first element, number of elements).
int64_t read_view_offset(const PickleValue& id, const PickleValue& view) {
  if (view.is_none()) return 0;
  const auto* tuple = view.get_if<PickleValue::Tuple>();
  if (tuple == nullptr || tuple->items.size() != 3) fail_storage(id);
  const auto* offset = tuple->items[1]->get_if<int64_t>();
  if (offset == nullptr || *offset < 0) fail_storage(id);
  return *offset;
}

PendingStorage read_storage(const PickleValue& id) {
  const auto& items = id_items(id);
  const auto* name = items[1]->get_if<Name>();
  const StorageClass* storage_class = name == nullptr ? nullptr : find_storage_class(name->text);
  const auto* key = items[2]->get_if<std::string>();
  const auto* location = items[3]->get_if<std::string>();
  const auto* num_elements = items[4]->get_if<int64_t>();
  if (storage_class == nullptr || key == nullptr || location == nullptr ||
      num_elements == nullptr) {
    fail_storage(id);
  }
  const auto dtype = storage_class->dtype;
  PendingStorage storage = {*key, dtype, 0, 0, *location};
  const auto element_size = dtype ? static_cast<int64_t>(c10::elementSize(*dtype)) : 1;
  if (*num_elements < 0 ||
      __builtin_mul_overflow(*num_elements, element_size, &storage.num_bytes)) {
    throw WeightError(fmt::format("is damaged: its storage '{}' has {} elements", printable(*key),
                                  *num_elements));
  }
  if (items.size() == 6) storage.offset = read_view_offset(id, *items[5]);
  return storage;
}

void set_attributes(Object& object, const PickleValue& state, PickleArena& arena) {
  const auto set = [&](const std::string& name, const PickleValue* value) {
    arena.charge(sizeof(object.attributes[0]) + name.size());
    object.attributes.emplace_back(name, value);
  };
  const auto* dict = state.get_if<PickleValue::Dict>();
  // What a class with a __getstate__ of its own made of itself.
  if (dict == nullptr) return set("__state__", &state);
  for (const auto& [key, value] : dict->items) {
    const auto* name = key->get_if<std::string>();
    if (name == nullptr)
      throw WeightError("is damaged: its pickle has an attribute without a name");
    set(*name, value);
  }
}

}  // namespace

PickleValue* TorchRules::find_global(std::string_view module, std::string_view name) {
  std::string full_name = fmt::format("{}.{}", current_module(module), name);
  if (find_pickle_global(full_name) == nullptr && !is_torch_constant(full_name) &&
      find_storage_class(full_name) == nullptr && !(reads_objects_ && is_script_class(full_name))) {
    throw WeightError(
        kNotSupported,
        fmt::format("holds a pickled object of class '{}'; only tensors and plain values are read, "
                    "since anything else could run code. Save model.state_dict() instead",
                    printable(full_name)));
  }
  arena_.charge(full_name.size());
  return arena_.make({Name{std::move(full_name)}});
}

PickleValue* TorchRules::call(const PickleValue& callable, const PickleItems& arguments) {
  const auto* name = callable.get_if<Name>();
  if (name == nullptr) {
    throw WeightError("is damaged: its pickle calls " + callable.kind());
  }
  if (is_script_class(name->text)) {
    arena_.charge(name->text.size());
    return arena_.make({Object{name->text, {}}});
  }
  const PickleGlobal* global = find_pickle_global(name->text);
  if (global == nullptr || global->call == nullptr) {
    throw WeightError(
        fmt::format("is damaged: its pickle calls {}, which can not be called", name->text));
  }
  return global->call({global->name, arguments, arena_, tensors_});
}

void TorchRules::set_state(PickleValue& object, const PickleValue& state) {
  if (auto* script_object = std::get_if<Object>(&object.value)) {
    return set_attributes(*script_object, state, arena_);
  }
  // Attributes of Python's objects (`_metadata` of an OrderedDict) change nothing that is read.
  const bool has_state = object.get_if<PickleValue::Dict>() != nullptr ||
                         object.get_if<at::Tensor>() != nullptr ||
                         object.get_if<PickleValue::Unsupported>() != nullptr;
  if (!has_state) throw WeightError("is damaged: its pickle gives attributes to " + object.kind());
}

PickleValue* TorchRules::load_persistent(const PickleValue& id) {
  PendingStorage storage = read_storage(id);
  arena_.charge(kStorageCost + storage.key.size() + storage.location.size());
  tensors_.storages.push_back(std::move(storage));
  return arena_.make({PickleValue::Storage{tensors_.storages.size() - 1}});
}

}  // namespace torch_ir
