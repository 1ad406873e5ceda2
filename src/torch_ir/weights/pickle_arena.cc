#include "torch_ir/weights/pickle_arena.h"

#include <fmt/format.h>

#include <utility>

#include "torch_ir/base/error.h"

namespace torch_ir {

PickleArena::PickleArena()
    : none_(make({PickleValue::None()})), true_(make({true})), false_(make({false})) {}

PickleValue* PickleArena::make(PickleValue value) {
  if (values_.size() == kMaxValues) {
    throw WeightError(fmt::format("holds a pickle of more than {} values", kMaxValues));
  }
  return &values_.emplace_back(std::move(value));
}

void PickleArena::charge(size_t bytes) {
  if (bytes > kMaxCharge - charged_) {
    throw WeightError(fmt::format(
        "holds a pickle that needs more than {} bytes without its tensors' data", kMaxCharge));
  }
  charged_ += bytes;
}

}  // namespace torch_ir
