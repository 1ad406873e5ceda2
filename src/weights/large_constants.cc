#include "torch_ir/weights/large_constants.h"

#include <utility>

namespace torch_ir {
namespace {

constexpr int64_t kMaxElementsInJson = 65'536;

}  // namespace

void move_large_constants(IR& ir, StateDict& weights) {
  StateDict small("Constant");
  for (const auto& item : ir.constants) {
    StateDict& place = item.value().numel() > kMaxElementsInJson ? weights : small;
    place.insert(item.key(), item.value());
  }
  ir.constants = std::move(small);
}

}  // namespace torch_ir
