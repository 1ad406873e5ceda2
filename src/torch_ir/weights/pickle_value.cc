#include "torch_ir/weights/pickle_value.h"

#include <array>

namespace torch_ir {
namespace {

// By the index of the alternative; a name is its own.
constexpr std::array kKinds = {
    "None",  "a bool",   "an int",    "an int",   "a float",  "a complex number",
    "a str", "bytes",    "a tuple",   "a list",   "a set",    "a dict",
    "",      "a device", "an object", "a tensor", "a storage"};

}  // namespace

PickleValue::Pointer PickleValue::find(std::string_view key) const {
  if (const auto* dict = get_if<Dict>()) {
    for (const auto& [name, item] : dict->items) {
      const auto* text = name->get_if<std::string>();
      if (text != nullptr && *text == key) return item;
    }
  } else if (const auto* object = get_if<Object>()) {
    for (const auto& [name, item] : object->attributes) {
      if (name == key) return item;
    }
  }
  return nullptr;
}

std::string PickleValue::kind() const {
  static_assert(kKinds.size() + 1 == std::variant_size_v<decltype(value)>);
  if (const auto* name = get_if<Name>()) return name->text;
  if (const auto* unsupported = get_if<Unsupported>()) return unsupported->what;
  return kKinds[value.index()];
}

}  // namespace torch_ir
