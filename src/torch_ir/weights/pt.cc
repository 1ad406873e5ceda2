#include "torch_ir/weights/pt.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/weights/storage_tensor.h"
#include "torch_ir/weights/torch_file.h"
#include "torch_ir/weights/torch_rules.h"

namespace torch_ir {
namespace {

using Dict = PickleValue::Dict;
using Object = PickleValue::Object;
using Pointer = PickleValue::Pointer;

constexpr std::string_view kKeyOption = "--weights-key";
constexpr size_t kShownKeys = 10;

bool is_extra_state(std::string_view name) { return name.ends_with("_extra_state"); }

// Has at least one tensor, and nothing else. Unreadable tensors count too.
bool is_state_dict(const PickleValue& value) {
  using Item = std::pair<Pointer, Pointer>;
  const auto* dict = value.get_if<Dict>();
  if (dict == nullptr) return false;
  const auto is_tensor = [](const Item& item) { return item.second->is_tensor(); };
  const auto belongs = [&](const Item& item) {
    const auto* name = item.first->get_if<std::string>();
    return name != nullptr && (is_tensor(item) || is_extra_state(*name));
  };
  return std::ranges::any_of(dict->items, is_tensor) && std::ranges::all_of(dict->items, belongs);
}

// State dicts below a value, and the keys that lead to them.
using Candidates = std::vector<std::pair<std::string, Pointer>>;

void collect_candidates(const PickleValue& value, const std::string& prefix,
                        Candidates& candidates) {
  for (const auto& [name, child] : value.members()) {
    const std::string key = prefix + std::string(name);
    if (is_state_dict(*child)) {
      candidates.emplace_back(key, child);
    } else {
      collect_candidates(*child, key + ".", candidates);
    }
  }
}

// A name may contain dots, so this tries every split of `key`. Null if none exists.
Pointer resolve(const PickleValue& value, const std::string& key) {
  if (const Pointer member = value.find(key)) return member;
  for (size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1)) {
    const Pointer member = value.find(std::string_view(key).substr(0, dot));
    if (member == nullptr) continue;
    if (const Pointer found = resolve(*member, key.substr(dot + 1))) return found;
  }
  return nullptr;
}

const PickleValue& find_by_key(const PickleValue& value, const std::string& key) {
  if (const Pointer found = resolve(value, key)) return *found;
  std::vector<std::string> names;
  for (const auto& [name, item] : value.members()) names.emplace_back(name);
  throw WeightError(fmt::format(
      "holds {} without the key '{}' of {}; {}", value.kind(), printable(key), kKeyOption,
      names.empty() ? "it has no string keys" : "its keys are " + quoted_list(names, kShownKeys)));
}

// A model without weights has an empty state dict: returns the only member that is an empty dict,
// or `value` itself if there is not exactly one.
const PickleValue& find_empty(const PickleValue& value) {
  const PickleValue* empty = nullptr;
  for (const auto& [name, child] : value.members()) {
    const auto* dict = child->get_if<Dict>();
    if (dict == nullptr || !dict->items.empty()) continue;
    if (empty != nullptr) return value;
    empty = child;
  }
  return empty == nullptr ? value : *empty;
}

// Without candidates, `value` is read as a state dict, so that the error describes the
// problem.
const PickleValue& find_only(const PickleValue& value) {
  if (is_state_dict(value) || value.get_if<Object>() != nullptr) return value;
  Candidates candidates;
  collect_candidates(value, "", candidates);
  const PickleValue* foreign = find_foreign(value);
  if (candidates.empty()) return foreign == nullptr ? find_empty(value) : *foreign;
  if (candidates.size() == 1 && foreign == nullptr) return *candidates.front().second;
  std::vector<std::string> keys;
  for (const auto& [key, found] : candidates) keys.push_back(key);
  if (foreign != nullptr) {
    throw WeightError(kNotSupported,
                      fmt::format("holds {} beside weights, which is not read; choose {} with {}",
                                  foreign->kind(), quoted_list(keys, kShownKeys), kKeyOption));
  }
  throw WeightError(fmt::format("holds {} state dicts; choose one of {} with {}", candidates.size(),
                                quoted_list(keys, kShownKeys), kKeyOption));
}

void add_tensor(const std::string& name, const at::Tensor& tensor, StateDict& tensors) {
  if (tensors.contains(name)) {
    throw WeightError(fmt::format("holds a duplicate tensor '{}'", printable(name)));
  }
  tensors.insert(name, tensor);
}

[[noreturn]] void fail_member(const std::string& name, const PickleValue& value) {
  const bool is_nested = value.get_if<Dict>() != nullptr;
  throw WeightError(fmt::format("holds {} under '{}' instead of a {}tensor{}", value.kind(),
                                printable(name), value.is_tensor() ? "dense " : "",
                                is_nested ? fmt::format("; {} chooses a dict", kKeyOption) : ""));
}

StateDict read_dict(const Dict& dict) {
  StateDict tensors;
  for (const auto& [key, value] : dict.items) {
    const auto* name = key->get_if<std::string>();
    if (name == nullptr) {
      throw WeightError("holds a dict with " + key->kind() + " as a key instead of a str");
    }
    if (const auto* tensor = value->get_if<at::Tensor>()) {
      add_tensor(*name, *tensor, tensors);
    } else if (!is_extra_state(*name)) {
      fail_member(*name, *value);
    }
  }
  return tensors;
}

void read_object(const Object& object, const std::string& prefix, StateDict& tensors) {
  for (const auto& [name, value] : object.attributes) {
    const std::string full_name = prefix + name;
    if (const auto* tensor = value->get_if<at::Tensor>()) {
      add_tensor(full_name, *tensor, tensors);
    } else if (const auto* child = value->get_if<Object>()) {
      read_object(*child, full_name + ".", tensors);
    } else if (value->is_tensor()) {
      fail_member(full_name, *value);
    }
  }
}

}  // namespace

StateDict find_state_dict(const PickleValue& value, const std::string& key) {
  const PickleValue& chosen = key.empty() ? find_only(value) : find_by_key(value, key);
  if (chosen.is_foreign()) {
    throw WeightError(kNotSupported,
                      foreign_problem(chosen.get_if<PickleValue::Unsupported>()->foreign));
  }
  if (const auto* dict = chosen.get_if<Dict>()) return read_dict(*dict);
  if (const auto* object = chosen.get_if<Object>()) {
    StateDict tensors;
    read_object(*object, "", tensors);
    return tensors;
  }
  throw WeightError(fmt::format("holds {} instead of a dict from names to tensors{}", chosen.kind(),
                                key.empty() ? "" : " under '" + printable(key) + "'"));
}

StateDict load_weights_pt(const std::string& path, const LoadWeightsOptions& options) {
  const PickleDocument document = load_torch_file(map_weights(path), path, ForeignNames::kKept);
  try {
    return find_state_dict(*document, options.weights_key);
  } catch (const WeightError& error) {
    throw WeightError(error, fmt::format("'{}' {}", printable(path), error.what()));
  }
}

}  // namespace torch_ir
