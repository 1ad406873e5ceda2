#include "torch_ir/weights/large_constants.h"

#include <utility>

namespace torch_ir {
namespace {

constexpr int64_t kMaxElementsInJson = 65'536;

}  // namespace

void move_large_constants(IR& ir, StateDict& weights) {
  StateDict small("Constant");
  for (const auto& item : ir.constants) {
    const bool is_large = item.value().numel() > kMaxElementsInJson;
    // What weights have goes before the constants of a graph.
    if (is_large && weights.contains(item.key())) continue;
    (is_large ? weights : small).insert(item.key(), item.value());
  }
  ir.constants = std::move(small);
}

}  // namespace torch_ir
