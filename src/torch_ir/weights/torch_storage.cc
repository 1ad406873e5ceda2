#include "torch_ir/weights/torch_storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// A class of storages. Its module is ignored, since everything is loaded to the CPU.
struct StorageClass {
  std::optional<c10::ScalarType> dtype;
};

constexpr std::string_view kStorageModules[] = {"torch", "torch.cuda", "torch.storage"};

std::optional<StorageClass> find_storage_class(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  if (std::ranges::count(kStorageModules, name.substr(0, dot)) == 0) return std::nullopt;
  name.remove_prefix(dot + 1);
  if (name == "UntypedStorage" || name == "_UntypedStorage") return StorageClass{};
  // Later dtypes have no such class.
  for (int i = 0; i <= static_cast<int>(c10::ScalarType::QUInt2x4); ++i) {
    const auto dtype = static_cast<c10::ScalarType>(i);
    if (name == std::string(c10::toString(dtype)) + "Storage") return StorageClass{dtype};
  }
  return std::nullopt;
}

[[noreturn]] void fail_storage(const PickleValue& id) {
  throw WeightError("is damaged: its pickle has " + id.kind() + " that is not the id of a storage");
}

// The items of an id: "storage", class, key, location, number of elements.
const std::vector<PickleValue::Pointer>& id_items(const PickleValue& id) {
  const auto* tuple = id.get_if<PickleValue::Tuple>();
  if (tuple == nullptr || tuple->items.size() != 5) fail_storage(id);
  const auto* kind = tuple->items[0]->get_if<std::string>();
  if (kind == nullptr || *kind != "storage") fail_storage(id);
  return tuple->items;
}

}  // namespace

bool is_storage_class(std::string_view name) { return find_storage_class(name).has_value(); }

PendingStorage read_storage(const PickleValue& id) {
  const auto& items = id_items(id);
  const auto* name = items[1]->get_if<PickleValue::Name>();
  const auto storage_class = name == nullptr ? std::nullopt : find_storage_class(name->text);
  const auto* key = items[2]->get_if<std::string>();
  const auto* location = items[3]->get_if<std::string>();
  const auto* num_elements = items[4]->get_if<int64_t>();
  if (!storage_class || key == nullptr || location == nullptr || num_elements == nullptr) {
    fail_storage(id);
  }
  const auto dtype = storage_class->dtype;
  PendingStorage storage = {*key, dtype, 0, *location};
  const auto element_size = dtype ? static_cast<int64_t>(c10::elementSize(*dtype)) : 1;
  if (*num_elements < 0 ||
      __builtin_mul_overflow(*num_elements, element_size, &storage.num_bytes)) {
    throw WeightError(fmt::format("is damaged: its storage '{}' has {} elements", printable(*key),
                                  *num_elements));
  }
  return storage;
}

}  // namespace torch_ir
