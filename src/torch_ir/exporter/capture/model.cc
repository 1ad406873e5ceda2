#include "torch_ir/exporter/capture/model.h"

#include <ATen/ops/empty_like.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/nn/module.h>

#include <algorithm>

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

std::string internal::wrong_number_of_inputs(const std::vector<bool>& is_taken, size_t given) {
  std::vector<size_t> counts;
  for (size_t i = 0; i < is_taken.size(); ++i) {
    if (is_taken[i]) counts.push_back(i + 1);
  }
  std::string text = std::to_string(counts.back());
  counts.pop_back();
  if (!counts.empty()) text = fmt::format("{} or {}", fmt::join(counts, ", "), text);
  return fmt::format("forward takes {} {}, {} given", text, text == "1" ? "tensor" : "tensors",
                     given);
}

at::Tensor LiftedConstants::register_constant(const std::string& name, const at::Tensor& value) {
  if (std::ranges::find(constants_, name, &LiftedConstant::name) != constants_.end()) {
    throw Error("duplicate constant '" + name + "'");
  }
  const bool to_meta = MetaDeviceGuard::is_active() && !value.is_meta();
  constants_.push_back(
      {name, to_meta ? at::empty_like(value, value.options().device(c10::kMeta)) : value, value});
  return constants_.back().tensor;
}

std::vector<LiftedConstant> list_constants(const torch::nn::Module& module) {
  std::vector<LiftedConstant> constants;
  const auto add = [&](const std::string& prefix, const torch::nn::Module& owner) {
    const auto* holder = dynamic_cast<const LiftedConstants*>(&owner);
    if (holder == nullptr) return;
    for (const LiftedConstant& it : holder->constants()) {
      constants.push_back({prefix + it.name, it.tensor, it.value});
    }
  };
  add("", module);
  for (const auto& child : module.named_modules("", /*include_self=*/false)) {
    add(child.key() + ".", *child.value());
  }
  return constants;
}

}  // namespace torch_ir
