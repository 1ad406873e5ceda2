#include "torch_ir/weights/torch_storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// A class of storages. Without its module, which says nothing: all is loaded to the CPU.
struct StorageClass {
  std::string_view name;
  // None for untyped storages.
  std::optional<c10::ScalarType> dtype;
};

constexpr StorageClass kStorageClasses[] = {
    {"UntypedStorage", std::nullopt},
    {"_UntypedStorage", std::nullopt},
    {"DoubleStorage", c10::ScalarType::Double},
    {"FloatStorage", c10::ScalarType::Float},
    {"HalfStorage", c10::ScalarType::Half},
    {"BFloat16Storage", c10::ScalarType::BFloat16},
    {"LongStorage", c10::ScalarType::Long},
    {"IntStorage", c10::ScalarType::Int},
    {"ShortStorage", c10::ScalarType::Short},
    {"CharStorage", c10::ScalarType::Char},
    {"ByteStorage", c10::ScalarType::Byte},
    {"BoolStorage", c10::ScalarType::Bool},
    {"ComplexDoubleStorage", c10::ScalarType::ComplexDouble},
    {"ComplexFloatStorage", c10::ScalarType::ComplexFloat},
    {"ComplexHalfStorage", c10::ScalarType::ComplexHalf},
    {"QInt8Storage", c10::ScalarType::QInt8},
    {"QInt32Storage", c10::ScalarType::QInt32},
    {"QUInt8Storage", c10::ScalarType::QUInt8},
    {"QUInt4x2Storage", c10::ScalarType::QUInt4x2},
    {"QUInt2x4Storage", c10::ScalarType::QUInt2x4},
};

constexpr std::string_view kStorageModules[] = {"torch", "torch.cuda", "torch.storage"};

// By its name with the module ("torch.FloatStorage"); null where there is none.
const StorageClass* find_storage_class(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return nullptr;
  if (std::ranges::count(kStorageModules, name.substr(0, dot)) == 0) return nullptr;
  const auto* found = std::ranges::find(kStorageClasses, name.substr(dot + 1), &StorageClass::name);
  return found == std::end(kStorageClasses) ? nullptr : found;
}

[[noreturn]] void fail_storage(const PickleValue& id) {
  throw WeightError("is damaged: its pickle has " + id.kind() + " that is no id of a storage");
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

bool is_storage_class(std::string_view name) { return find_storage_class(name) != nullptr; }

PendingStorage read_storage(const PickleValue& id) {
  const auto& items = id_items(id);
  const auto* name = items[1]->get_if<PickleValue::Name>();
  const StorageClass* storage_class = name == nullptr ? nullptr : find_storage_class(name->text);
  const auto* key = items[2]->get_if<std::string>();
  const auto* location = items[3]->get_if<std::string>();
  const auto* num_elements = items[4]->get_if<int64_t>();
  if (storage_class == nullptr || key == nullptr || location == nullptr ||
      num_elements == nullptr) {
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
