#include "torch_ir/weights/pickle_call.h"

#include <fmt/format.h>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {

void fail_call(const PickleCall& call, const std::string& what) {
  throw WeightError(
      fmt::format("is damaged: its pickle calls {} with {}", printable(call.name), what));
}

void check_count(const PickleCall& call, size_t least, size_t most) {
  if (call.arguments.size() >= least && call.arguments.size() <= most) return;
  fail_call(call, fmt::format("{} arguments", call.arguments.size()));
}

void fail_argument(const PickleCall& call, size_t index) {
  fail_call(call, fmt::format("{} as argument {}", call.arguments[index]->kind(), index + 1));
}

}  // namespace torch_ir
