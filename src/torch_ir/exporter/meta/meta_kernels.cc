#include "torch_ir/exporter/meta/meta_kernels.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "torch_ir/exporter/meta/cpu_fallback.h"
#include "torch_ir/exporter/meta/meta_rules.h"
#include "torch_ir/operators/data_dependence.h"

namespace torch_ir {
namespace {

class RuleKernel final : public c10::OperatorKernel {
 public:
  explicit RuleKernel(MetaRule rule) : rule_(rule) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const size_t count = op.schema().arguments().size();
    const MetaCall call(op, torch::jit::last(*stack, count));
    torch::jit::Stack results = deliver(call, rule_(call));
    torch::jit::drop(*stack, count);
    stack->insert(stack->end(), std::make_move_iterator(results.begin()),
                  std::make_move_iterator(results.end()));
  }

 private:
  MetaRule rule_;
};

bool is_composite(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) ||
         op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd) ||
         op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutogradNonFunctional);
}

// A plain number as the result of an operator on tensors is in their data.
bool returns_tensors_only(const c10::FunctionSchema& schema) {
  for (const c10::Argument& result : schema.returns()) {
    if (!result.type()->isSubtypeOf(*c10::TensorType::get()) &&
        !result.type()->isSubtypeOf(*c10::ListType::ofTensors())) {
      return false;
    }
  }
  return true;
}

bool takes_fallback(const c10::OperatorHandle& op) {
  return !is_composite(op) && op.hasKernelForDispatchKey(c10::DispatchKey::CPU) &&
         returns_tensors_only(op.schema()) && !depends_on_data(op.operator_name().name);
}

bool takes_rule(const c10::OperatorHandle& op, const NamedMetaRule* rule) {
  return rule != nullptr && (rule->composite == Composite::kReplace || !is_composite(op));
}

void register_operator(torch::Library& library, const c10::OperatorHandle& op) {
  if (op.hasKernelForDispatchKey(c10::DispatchKey::Meta)) return;
  const std::string name = c10::toString(op.operator_name());
  const NamedMetaRule* rule = find_meta_rule(op.operator_name().name);
  if (takes_rule(op, rule)) {
    library.impl(name.c_str(), torch::CppFunction::makeFromBoxedFunctor(
                                   std::make_unique<RuleKernel>(rule->rule)));
  } else if (takes_fallback(op)) {
    library.impl(name.c_str(), torch::CppFunction::makeFromBoxedFunction<&run_on_cpu_zeros>());
  }
}

// Lives as long as the process: with it the kernels would go.
torch::Library* register_all() {
  auto library = std::make_unique<torch::Library>(torch::Library::IMPL, "aten",
                                                  c10::DispatchKey::Meta, __FILE__, __LINE__);
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (!name.name.starts_with("aten::")) continue;
    if (const auto op = dispatcher.findSchema(name)) register_operator(*library, *op);
  }
  return library.release();
}

}  // namespace

void register_meta_kernels() {
  [[maybe_unused]] static const torch::Library* library = register_all();
}

}  // namespace torch_ir
