// NameIndex: consecutive numbers for names, in order of first appearance.
//
// The runtime keeps data by name in vectors, indexed by these numbers, so values near each other in
// the graph are near in memory.
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

  // Returns the number of `name`; a new name gets size(). The text of `name` must outlive the
  // index.
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
