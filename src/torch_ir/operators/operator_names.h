// Tables of operators by their names, for the files of this folder.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace torch_ir {

inline std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    words.push_back(text.substr(0, text.find(' ')));
    text.remove_prefix(std::min(words.back().size() + 1, text.size()));
  }
  return words;
}

// Values for operators with all their overloads. Flags of several rows add up.
template <class Value>
class OperatorNames {
 public:
  struct Row {
    Value value;
    // Without "aten::"; others with their namespace.
    std::string_view names;
  };

  OperatorNames(std::initializer_list<Row> rows) {
    for (const Row& row : rows) {
      for (const std::string_view name : words_of(row.names)) {
        const auto [entry, is_new] = values_.try_emplace(name, row.value);
        if constexpr (std::is_unsigned_v<Value>) entry->second |= row.value;
      }
    }
  }

  // Null for an operator without a row.
  const Value* find(const c10::OperatorHandle& op) const {
    constexpr std::string_view kNamespace = "aten::";
    std::string_view name = op.operator_name().name;
    if (name.starts_with(kNamespace)) name.remove_prefix(kNamespace.size());
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<std::string_view, Value> values_;
};

}  // namespace torch_ir
