// NameIndex: numbers for names, given in the order in which the names first come.
//
// Used where every value of a graph is looked up by name: by validation and by the executor. What
// belongs to a name lies in a vector under its number, so what is near in the graph is near in
// memory; of a look-up only one place of a table of 8 bytes each is at random.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace torch_ir {

class NameIndex {
 public:
  void reserve(size_t num_names);

  // The number of `name`, which is size() when it is new. Its text must outlive the index.
  uint32_t insert(std::string_view name);
  std::optional<uint32_t> find(std::string_view name) const;

  size_t size() const { return names_.size(); }

 private:
  static constexpr uint32_t kEmpty = UINT32_MAX;

  struct Slot {
    uint32_t hash = 0;
    uint32_t number = kEmpty;
  };

  // Where `name` is, or would be.
  size_t find_slot(std::string_view name, uint32_t hash) const;
  void resize_slots(size_t num_slots);

  std::vector<std::string_view> names_;
  // Open addressing with linear probing: a power of two of slots, at least twice the names.
  std::vector<Slot> slots_;
};

}  // namespace torch_ir
