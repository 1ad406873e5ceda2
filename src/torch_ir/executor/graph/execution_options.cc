#include "torch_ir/executor/graph/execution_options.h"

#include <fmt/format.h>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/executor/onednn/primitive.h"

namespace torch_ir {

std::string optimization_name(Optimization optimization) {
  switch (optimization) {
    case Optimization::kExact:
      return "exact";
    case Optimization::kFast:
      return "fast";
  }
  __builtin_unreachable();
}

Optimization parse_optimization(const std::string& name) {
  for (const Optimization optimization : {Optimization::kExact, Optimization::kFast}) {
    if (name == optimization_name(optimization)) return optimization;
  }
  throw Error(fmt::format("'{}' is no optimization level: give exact or fast", printable(name)));
}

bool fuses_traces(const ExecutionOptions& options) {
  return options.optimization == Optimization::kFast && options.trace && options.onednn &&
         onednn::version();
}

std::optional<std::string> onednn_version() { return onednn::version(); }

}  // namespace torch_ir
