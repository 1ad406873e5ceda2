#include "torch_ir/operators/operator_support.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/version.h>

#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/builtin_operators.h"
#include "torch_ir/operators/executor_registry.h"
#include "torch_ir/operators/number_functions.h"
#include "torch_ir/operators/refused_operators.h"

namespace torch_ir {
namespace {

struct KernelKind {
  c10::DispatchKey key;
  const char* description;
};

// In the order in which the dispatcher prefers them.
constexpr KernelKind kKernelKinds[] = {
    {c10::DispatchKey::CPU, "kernel for CPU"},
    {c10::DispatchKey::CompositeExplicitAutograd, "composite of other operators"},
    {c10::DispatchKey::CompositeImplicitAutograd, "composite of other operators"},
    {c10::DispatchKey::CompositeExplicitAutogradNonFunctional, "composite of other operators"},
    {c10::DispatchKey::BackendSelect, "kernel for the device that it is given"},
};

}  // namespace

OperatorSupport operator_support(const std::string& op_type) {
  if (find_executor(op_type)) return {true, "registered executor"};
  if (find_number_function(op_type) != nullptr) return {true, "function on numbers"};
  if (num_graphs_of(op_type) > 0) return {true, "control flow"};
  if (const std::string reason = refusal(op_type); !reason.empty()) {
    return {false, "refused: " + reason};
  }
  const auto op = find_operator(op_type);
  if (!op) return {false, "unknown to LibTorch " TORCH_VERSION};
  for (const KernelKind& kind : kKernelKinds) {
    if (op->hasKernelForDispatchKey(kind.key)) return {true, kind.description};
  }
  return {false, "no kernel for CPU"};
}

}  // namespace torch_ir
