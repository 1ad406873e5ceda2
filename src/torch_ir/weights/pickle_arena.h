// The memory of one pickle.
//
// Used by the unpickler and its rules. All values of a pickle lie here and point to each other, so
// cycles and depth cost nothing when they die. What a file can ask for is limited: it may name one
// thing in a few bytes and have it copied a million times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "torch_ir/weights/pickle_value.h"

namespace torch_ir {

class PickleArena {
 public:
  static constexpr size_t kMaxValues = 5'000'000;
  // For what values hold: items of containers, copied strings, tensors.
  static constexpr size_t kMaxCharge = size_t{256} << 20;

  PickleArena();
  PickleArena(const PickleArena&) = delete;
  PickleArena& operator=(const PickleArena&) = delete;

  // A new value, which lives as long as the arena. Throws WeightError where there are too many.
  PickleValue* make(PickleValue value);
  // The one None, True and False.
  PickleValue* none() { return none_; }
  PickleValue* boolean(bool value) { return value ? true_ : false_; }

  // Counts `bytes` that a value will hold. Throws WeightError where they are too many.
  void charge(size_t bytes);

 private:
  std::deque<PickleValue> values_;
  size_t charged_ = 0;
  PickleValue* none_;
  PickleValue* true_;
  PickleValue* false_;
};

}  // namespace torch_ir
