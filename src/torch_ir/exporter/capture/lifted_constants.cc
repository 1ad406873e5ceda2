#include "torch_ir/exporter/capture/lifted_constants.h"

#include <ATen/ops/empty_like.h>
#include <torch/nn/module.h>

#include "torch_ir/base/error.h"
#include "torch_ir/exporter/meta/meta_device.h"

namespace torch_ir {

at::Tensor LiftedConstants::register_constant(const std::string& name, const at::Tensor& value) {
  if (constants_.contains(name)) throw Error("constant '" + name + "' is registered twice");
  const bool to_meta = MetaDeviceGuard::is_active() && !value.is_meta();
  return constants_.insert(
      name, to_meta ? at::empty_like(value, value.options().device(c10::kMeta)) : value);
}

StateDict lifted_constants(const torch::nn::Module& module) {
  StateDict constants("Constant");
  const auto add = [&](const std::string& prefix, const torch::nn::Module& owner) {
    const auto* holder = dynamic_cast<const LiftedConstants*>(&owner);
    if (holder == nullptr) return;
    for (const auto& item : holder->constants())
      constants.insert(prefix + item.key(), item.value());
  };
  add("", module);
  for (const auto& child : module.named_modules("", /*include_self=*/false)) {
    add(child.key() + ".", *child.value());
  }
  return constants;
}

}  // namespace torch_ir
