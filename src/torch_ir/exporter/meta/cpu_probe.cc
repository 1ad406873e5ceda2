#include "torch_ir/exporter/meta/cpu_probe.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/List.h>
#include <ATen/core/enum_tag.h>

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace torch_ir {
namespace {

// Puts the generators that a random operator draws from back to where they were.
class GeneratorsGuard {
 public:
  GeneratorsGuard(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments) {
    if (!op.hasTag(at::Tag::nondeterministic_seeded)) return;
    save(at::detail::getDefaultCPUGenerator());
    for (const c10::IValue& argument : arguments) {
      if (argument.isGenerator()) save(argument.toGenerator());
    }
  }
  ~GeneratorsGuard() {
    for (auto& [generator, state] : saved_) {
      std::lock_guard<std::mutex> lock(generator.mutex());
      generator.set_state(state);
    }
  }
  GeneratorsGuard(const GeneratorsGuard&) = delete;
  GeneratorsGuard& operator=(const GeneratorsGuard&) = delete;

 private:
  void save(at::Generator generator) {
    std::lock_guard<std::mutex> lock(generator.mutex());
    at::Tensor state = generator.get_state();
    saved_.emplace_back(std::move(generator), std::move(state));
  }

  std::vector<std::pair<at::Generator, at::Tensor>> saved_;
};

// Made-up values are nothing to warn of.
class Silence : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

at::Tensor map_tensor(const at::Tensor& tensor, const TensorMap& map) {
  return tensor.defined() ? map(tensor) : tensor;
}

}  // namespace

c10::IValue map_tensors(const c10::IValue& value, const TensorMap& map) {
  if (value.isTensor()) return map_tensor(value.toTensor(), map);
  if (value.isTensorList()) {
    c10::List<at::Tensor> mapped;
    for (const at::Tensor& tensor : value.toTensorVector()) {
      mapped.push_back(map_tensor(tensor, map));
    }
    return mapped;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> mapped;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      mapped.push_back(tensor ? std::optional(map_tensor(*tensor, map)) : std::nullopt);
    }
    return mapped;
  }
  return value;
}

void copy_wrapped_number(const at::Tensor& source, const at::Tensor& tensor) {
  if (!source.unsafeGetTensorImpl()->is_wrapped_number()) return;
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
}

torch::jit::Stack call_on_cpu(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments,
                              const TensorMap& substitute) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const GeneratorsGuard generators(op, arguments);
  Silence silence;
  const c10::WarningUtils::WarningHandlerGuard no_warnings(&silence);
  const TensorMap to_cpu = [&](const at::Tensor& tensor) {
    return tensor.is_meta() ? substitute(tensor) : tensor;
  };
  torch::jit::Stack stack;
  for (const c10::IValue& argument : arguments) {
    if (argument.isDevice() && argument.toDevice().is_meta()) {
      stack.emplace_back(c10::Device(c10::DeviceType::CPU));
    } else {
      stack.push_back(map_tensors(argument, to_cpu));
    }
  }
  try {
    op.callBoxed(stack);
  } catch (const c10::Error& error) {
    TORCH_CHECK(false, op.operator_name(), " on meta tensors: ", error.what_without_backtrace());
  } catch (const std::exception& error) {
    TORCH_CHECK(false, op.operator_name(), " on meta tensors: ", error.what());
  }
  return stack;
}

}  // namespace torch_ir
