#include "torch_ir/exporter/meta/meta_kernels.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty_strided.h>
#include <torch/library.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>

#include "torch_ir/exporter/meta/cpu_probe.h"
#include "torch_ir/exporter/meta/meta_rules.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/operators/operator_table.h"

namespace torch_ir {
namespace {

class MetaKernel final : public c10::OperatorKernel {
 public:
  explicit MetaKernel(MetaRule rule) : rule_(rule) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const auto arguments = arguments_of(op, *stack);
    const MetaCall call(op, arguments);
    torch::jit::Stack results =
        rule_ == nullptr ? run_on_cpu_zeros(op, arguments) : deliver(call, rule_(call));
    torch::jit::drop(*stack, arguments.size());
    std::ranges::move(results, std::back_inserter(*stack));
  }

 private:
  // Null for the fallback.
  MetaRule rule_;
};

bool is_composite(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) ||
         op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd) ||
         op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutogradNonFunctional);
}

// A plain number computed from tensors depends on their data.
bool returns_tensors_only(const c10::FunctionSchema& schema) {
  return std::ranges::all_of(schema.returns(), [](const c10::Argument& result) {
    return result.type()->isSubtypeOf(*c10::TensorType::get()) ||
           result.type()->isSubtypeOf(*c10::ListType::ofTensors());
  });
}

bool takes_fallback(const c10::OperatorHandle& op) {
  return !is_composite(op) && op.hasKernelForDispatchKey(c10::DispatchKey::CPU) &&
         returns_tensors_only(op.schema()) && !may_depend_on_data(op);
}

void register_operator(torch::Library& library, const c10::OperatorHandle& op) {
  if (op.hasKernelForDispatchKey(c10::DispatchKey::Meta)) return;
  const OperatorFacts& facts = facts_of(op);
  const MetaRule rule = find_meta_rule(facts.meta_rule);
  const bool takes_rule = facts.replaces_composition || (rule != nullptr && !is_composite(op));
  if (!takes_rule && !takes_fallback(op)) return;
  const std::string name = c10::toString(op.operator_name());
  library.impl(name.c_str(), torch::CppFunction::makeFromBoxedFunctor(
                                 std::make_unique<MetaKernel>(takes_rule ? rule : nullptr)));
}

// Never destroyed, as that would remove the kernels.
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

void copy_wrapped_number(const at::Tensor& source, const at::Tensor& tensor) {
  if (!source.unsafeGetTensorImpl()->is_wrapped_number()) return;
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
}

at::Tensor meta_twin(const at::Tensor& tensor) {
  at::Tensor twin =
      at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(c10::kMeta));
  copy_wrapped_number(tensor, twin);
  return twin;
}

void register_meta_kernels() {
  [[maybe_unused]] static const torch::Library* library = register_all();
}

}  // namespace torch_ir
