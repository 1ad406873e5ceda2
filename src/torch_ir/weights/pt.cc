#include "torch_ir/weights/pt.h"

#include <fmt/format.h>

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
  const auto* dict = value.get_if<Dict>();
  if (dict == nullptr) return false;
  bool has_tensor = false;
  for (const auto& [key, item] : dict->items) {
    const auto* name = key->get_if<std::string>();
    if (name == nullptr) return false;
    if (item->is_tensor()) {
      has_tensor = true;
    } else if (!is_extra_state(*name)) {
      return false;
    }
  }
  return has_tensor;
}

template <class Visit>
void for_each_member(const PickleValue& value, Visit visit) {
  if (const auto* dict = value.get_if<Dict>()) {
    for (const std::pair<Pointer, Pointer>& item : dict->items) {
      if (const auto* name = item.first->get_if<std::string>()) visit(*name, *item.second);
    }
  } else if (const auto* object = value.get_if<Object>()) {
    for (const auto& [name, item] : object->attributes) visit(name, *item);
  }
}

struct Candidate {
  std::string key;
  const PickleValue* value;
};

void collect_candidates(const PickleValue& value, const std::string& key,
                        std::vector<Candidate>& candidates) {
  for_each_member(value, [&](const std::string& name, const PickleValue& child) {
    const std::string child_key = key.empty() ? name : key + "." + name;
    if (is_state_dict(child)) {
      candidates.push_back({child_key, &child});
    } else {
      collect_candidates(child, child_key, candidates);
    }
  });
}

std::vector<std::string> member_names(const PickleValue& value) {
  std::vector<std::string> names;
  for_each_member(value, [&](const std::string& name, const auto&) { names.push_back(name); });
  return names;
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
  const std::vector<std::string> names = member_names(value);
  throw WeightError(fmt::format(
      "holds {} without the key '{}' of {}; {}", value.kind(), printable(key), kKeyOption,
      names.empty() ? "it has no string keys" : "its keys are " + quoted_list(names, kShownKeys)));
}

// A model without weights has an empty state dict: returns the only member that is an empty dict,
// or `value` itself if there is not exactly one.
const PickleValue& find_empty(const PickleValue& value) {
  const PickleValue* empty = nullptr;
  size_t num_empty = 0;
  for_each_member(value, [&](const std::string&, const PickleValue& child) {
    const auto* dict = child.get_if<Dict>();
    if (dict == nullptr || !dict->items.empty()) return;
    empty = &child;
    ++num_empty;
  });
  return num_empty == 1 ? *empty : value;
}

// Without candidates, `value` is read as a state dict, so that the error describes the
// problem.
const PickleValue& find_only(const PickleValue& value) {
  if (is_state_dict(value) || value.get_if<Object>() != nullptr) return value;
  std::vector<Candidate> candidates;
  collect_candidates(value, "", candidates);
  const PickleValue* foreign = find_foreign(value);
  if (candidates.empty()) return foreign == nullptr ? find_empty(value) : *foreign;
  if (candidates.size() == 1 && foreign == nullptr) return *candidates.front().value;
  std::vector<std::string> keys;
  for (const Candidate& candidate : candidates) keys.push_back(candidate.key);
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
