#include "torch_ir/ir/name_index.h"

#include <bit>
#include <functional>
#include <utility>

namespace torch_ir {
namespace {

constexpr size_t kLeastSlots = 16;

uint32_t hash_of(std::string_view name) {
  return static_cast<uint32_t>(std::hash<std::string_view>()(name));
}

}  // namespace

void NameIndex::reserve(size_t num_names) {
  names_.reserve(num_names);
  const size_t num_slots = std::bit_ceil(num_names * 2);
  if (num_slots > slots_.size()) resize_slots(num_slots);
}

uint32_t NameIndex::insert(std::string_view name) {
  if (slots_.size() < 2 * (names_.size() + 1)) {
    resize_slots(slots_.empty() ? kLeastSlots : 2 * slots_.size());
  }
  const uint32_t hash = hash_of(name);
  Slot& slot = slots_[find_slot(name, hash)];
  if (slot.number == kEmpty) {
    slot = {hash, static_cast<uint32_t>(names_.size())};
    names_.push_back(name);
  }
  return slot.number;
}

std::optional<uint32_t> NameIndex::find(std::string_view name) const {
  if (slots_.empty()) return std::nullopt;
  const Slot& slot = slots_[find_slot(name, hash_of(name))];
  return slot.number == kEmpty ? std::nullopt : std::optional(slot.number);
}

size_t NameIndex::find_slot(std::string_view name, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t place = hash & mask;
  while (slots_[place].number != kEmpty) {
    if (slots_[place].hash == hash && names_[slots_[place].number] == name) break;
    place = (place + 1) & mask;
  }
  return place;
}

void NameIndex::resize_slots(size_t num_slots) {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(num_slots));
  const size_t mask = num_slots - 1;
  for (const Slot& slot : old) {
    if (slot.number == kEmpty) continue;
    size_t place = slot.hash & mask;
    while (slots_[place].number != kEmpty) place = (place + 1) & mask;
    slots_[place] = slot;
  }
}

}  // namespace torch_ir
