#include "torch_ir/runtime/graph/execution_options.h"

#include <fmt/format.h>

#include <cstdio>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/runtime/graph/fast_level.h"

namespace torch_ir {

std::string optimization_name(Optimization optimization) {
  return optimization == Optimization::kFast ? "fast" : "exact";
}

Optimization parse_optimization(const std::string& name) {
  for (const Optimization optimization : {Optimization::kExact, Optimization::kFast}) {
    if (name == optimization_name(optimization)) return optimization;
  }
  throw Error(
      fmt::format("unknown optimization level '{}'; expected exact or fast", printable(name)));
}

Optimization choose_optimization(const std::string& name) {
  const Optimization chosen = parse_optimization(name);
  if (chosen != Optimization::kFast || onednn_version()) return chosen;
  fmt::print(
      stderr,
      "oneDNN is missing, which level fast needs: torch-ir was built without it, or its library "
      "cannot be opened; running level exact instead.\n");
  return Optimization::kExact;
}

Optimization running_level(const ExecutionOptions& options) {
  const bool is_fast = options.optimization == Optimization::kFast && options.trace;
  return is_fast && onednn_version() ? Optimization::kFast : Optimization::kExact;
}

FastLevel& fast_level() {
  static FastLevel level;
  return level;
}

std::optional<std::string> onednn_version() {
  return fast_level().onednn_version == nullptr ? std::nullopt : fast_level().onednn_version();
}

}  // namespace torch_ir
