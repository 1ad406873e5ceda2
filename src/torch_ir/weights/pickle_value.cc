#include "torch_ir/weights/pickle_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// By the index of the alternative; a Name is its own kind.
constexpr std::array kKinds = {"None",   "a bool", "an int", "a float",   "a str",    "a tuple",
                               "a list", "a dict", "",       "an object", "a tensor", "a storage"};

using Dict = PickleValue::Dict;
using Pointer = PickleValue::Pointer;

// Calls `visit(child, place)` for each child of `value` until it returns true; returns whether it
// did. `place` makes the text of the child's place.
template <class Visit>
bool any_child(const PickleValue& value, Visit visit) {
  const auto any_item = [&](const std::vector<Pointer>& items) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (visit(*items[i], [i] { return fmt::format("[{}]", i); })) return true;
    }
    return false;
  };
  if (const auto* tuple = value.get_if<PickleValue::Tuple>()) return any_item(tuple->items);
  if (const auto* list = value.get_if<PickleValue::List>()) return any_item(list->items);
  if (const auto* dict = value.get_if<Dict>()) {
    return std::ranges::any_of(dict->items, [&](const auto& item) {
      const auto key_text = [&] {
        const auto* text = item.first->template get_if<std::string>();
        const auto* number = item.first->template get_if<int64_t>();
        if (text != nullptr) return fmt::format("['{}']", printable(*text));
        return number != nullptr ? fmt::format("[{}]", *number) : std::string("[...]");
      };
      return visit(*item.first, [] { return std::string("[...]"); }) ||
             visit(*item.second, key_text);
    });
  }
  if (const auto* other = value.get_if<PickleValue::Unsupported>()) return any_item(other->parts);
  if (const auto* object = value.get_if<PickleValue::Object>()) {
    return std::ranges::any_of(object->attributes, [&](const auto& attribute) {
      return visit(*attribute.second, [&] { return "." + printable(attribute.first); });
    });
  }
  return false;
}

using Key = std::variant<std::monostate, std::string_view, int64_t>;

Key key_of(const PickleValue& value) {
  if (const auto* text = value.get_if<std::string>()) return std::string_view(*text);
  if (const auto* number = value.get_if<int64_t>()) return *number;
  return {};
}

void merge_equal_keys(Dict& dict) {
  std::unordered_map<Key, size_t> positions;
  size_t size = 0;
  for (const auto& item : dict.items) {
    const Key key = key_of(*item.first);
    const auto [known, is_new] =
        key.index() > 0 ? positions.emplace(key, size) : std::pair(positions.end(), true);
    if (is_new) {
      dict.items[size++] = item;
    } else {
      dict.items[known->second].second = item.second;
    }
  }
  dict.items.resize(size);
}

class TreeCheck {
 public:
  struct Extent {
    size_t depth = 1;
    size_t size = 1;
  };

  Extent measure(PickleValue& value, size_t level) {
    check(level, 1);
    const bool is_container = any_child(value, [](const auto&, const auto&) { return true; });
    if (!is_container) return {};
    if (const auto known = extents_.find(&value); known != extents_.end()) {
      if (known->second.depth == 0) {
        throw WeightError("holds a pickle with " + value.kind() + " that contains itself");
      }
      check(level + known->second.depth - 1, known->second.size);
      return known->second;
    }
    extents_[&value] = {0, 0};
    if (auto* dict = std::get_if<Dict>(&value.value)) merge_equal_keys(*dict);
    Extent extent;
    any_child(value, [&](const PickleValue& child, const auto&) {
      // The caller of check_tree owns all values.
      const Extent part = measure(const_cast<PickleValue&>(child), level + 1);
      extent.depth = std::max(extent.depth, part.depth + 1);
      extent.size += part.size;
      check(level, extent.size);
      return false;
    });
    return extents_[&value] = extent;
  }

 private:
  static void check(size_t depth, size_t size) {
    if (depth > kMaxPickleDepth) {
      throw WeightError(
          fmt::format("holds a pickle nested deeper than {} levels", kMaxPickleDepth));
    }
    if (size > kMaxPickleTreeSize) {
      throw WeightError(
          fmt::format("holds a pickle that expands to more than {} values", kMaxPickleTreeSize));
    }
  }

  // For containers only; a depth of 0 marks a container that is being measured.
  std::unordered_map<const PickleValue*, Extent> extents_;
};

}  // namespace

bool PickleValue::is_tensor() const {
  const auto* unsupported = get_if<Unsupported>();
  return get_if<at::Tensor>() != nullptr || (unsupported != nullptr && unsupported->is_tensor);
}

bool PickleValue::is_foreign() const {
  const auto* unsupported = get_if<Unsupported>();
  return unsupported != nullptr && !unsupported->foreign.empty();
}

std::vector<std::pair<std::string_view, Pointer>> PickleValue::members() const {
  std::vector<std::pair<std::string_view, Pointer>> members;
  if (const auto* dict = get_if<Dict>()) {
    for (const auto& [key, item] : dict->items) {
      if (const auto* name = key->get_if<std::string>()) members.emplace_back(*name, item);
    }
  } else if (const auto* object = get_if<Object>()) {
    members.assign(object->attributes.begin(), object->attributes.end());
  }
  return members;
}

Pointer PickleValue::find(std::string_view key) const {
  for (const auto& [name, item] : members()) {
    if (name == key) return item;
  }
  return nullptr;
}

std::string PickleValue::kind() const {
  static_assert(kKinds.size() + 1 == std::variant_size_v<decltype(value)>);
  if (const auto* name = get_if<Name>()) return name->text;
  if (const auto* unsupported = get_if<Unsupported>()) return unsupported->what;
  return kKinds[value.index()];
}

PickleArena::PickleArena()
    : none_(make({PickleValue::None()})), true_(make({true})), false_(make({false})) {}

PickleValue* PickleArena::make(PickleValue value) {
  if (values_.size() == kMaxPickleValues) {
    throw WeightError(fmt::format("holds a pickle of more than {} values", kMaxPickleValues));
  }
  return &values_.emplace_back(std::move(value));
}

void PickleArena::charge(size_t bytes) {
  if (bytes > kMaxPickleBytes - charged_) {
    throw WeightError(fmt::format(
        "holds a pickle that needs more than {} bytes without its tensors' data", kMaxPickleBytes));
  }
  charged_ += bytes;
}

void check_tree(PickleValue& root) { TreeCheck().measure(root, 1); }

const PickleValue* find_foreign(const PickleValue& root) {
  const PickleValue* found = root.is_foreign() ? &root : nullptr;
  any_child(root, [&](const PickleValue& child, const auto&) {
    if (found == nullptr) found = find_foreign(child);
    return found != nullptr;
  });
  return found;
}

std::string find_place(const PickleValue& root, const PickleValue& value) {
  std::string result;
  any_child(root, [&](const PickleValue& child, const auto& place) {
    if (&child == &value) {
      result = place();
      return true;
    }
    const std::string below = find_place(child, value);
    if (below.empty()) return false;
    result = place() + below;
    return true;
  });
  return result;
}

}  // namespace torch_ir
