// NameIndex: numbers for names, given in the order in which the names first come.
//
// Used where every value of a graph is looked up by name, by the executor. What belongs to a name
// lies in a vector under its number, so what is near in the graph is near in memory.
#pragma once

#include <c10/util/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace torch_ir {

class NameIndex {
 public:
  void reserve(size_t num_names) { numbers_.reserve(num_names); }

  // The number of `name`, which is size() when it is new. Its text must outlive the index.
  uint32_t insert(std::string_view name) {
    return numbers_.emplace(name, static_cast<uint32_t>(numbers_.size())).first->second;
  }

  std::optional<uint32_t> find(std::string_view name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }

  size_t size() const { return numbers_.size(); }

 private:
  ska::flat_hash_map<std::string_view, uint32_t> numbers_;
};

}  // namespace torch_ir
