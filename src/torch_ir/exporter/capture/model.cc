#include "torch_ir/exporter/capture/model.h"

#include <ATen/ops/empty_like.h>
#include <torch/nn/module.h>

#include "torch_ir/exporter/capture/lifted_constants.h"
#include "torch_ir/exporter/meta/meta_device.h"

namespace torch_ir {

std::string class_name(const Model& model) {
  if (model.module() == nullptr) return "";
  std::string name = model.module()->name();
  if (const size_t colons = name.rfind("::"); colons != std::string::npos) {
    name.erase(0, colons + 2);
  }
  constexpr std::string_view kSuffix = "Impl";
  if (name.size() > kSuffix.size() && name.ends_with(kSuffix)) {
    name.resize(name.size() - kSuffix.size());
  }
  return name;
}

at::Tensor LiftedConstants::register_constant(const std::string& name, const at::Tensor& value) {
  if (constants_.contains(name)) throw Error("duplicate constant '" + name + "'");
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
