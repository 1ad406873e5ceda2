#include "torch_ir/executor/graph/bind_weights.h"

#include <fmt/format.h>

#include <optional>
#include <unordered_map>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/tensor_text.h"

namespace torch_ir {
namespace {

class WeightBinder {
 public:
  WeightBinder(const IR& ir, const StateDict& weights, const StateDict& constants,
               std::optional<c10::Device> target)
      : ir_(ir), weights_(weights), constants_(constants), target_(target) {
    for (const TensorMeta& meta : ir.weights) metas_.emplace(meta.name, &meta);
  }

  BoundWeights bind() {
    for (const auto& item : ir_.weight_name_mapping) bind(item.key(), item.value());
    for (const TensorMeta& meta : ir_.weights) {
      if (!ir_.weight_name_mapping.contains(meta.name)) bind(meta.name, meta.name);
    }
    if (target_ || device_) bound_.device = target_ ? *target_ : *device_;
    bind_constants_of_ir();
    return std::move(bound_);
  }

 private:
  struct Unbound {
    std::string placeholder;
    std::string name;
  };

  void bind(const std::string& placeholder, const std::string& name) {
    const at::Tensor* tensor = find(weights_, placeholder, name);
    if (tensor == nullptr) tensor = find(constants_, placeholder, name);
    if (tensor == nullptr) {
      unbound_.push_back({placeholder, name});
      return;
    }
    check(name, *tensor);
    check_device(name, *tensor);
    bound_.tensors.set(placeholder, target_ ? moved(*tensor) : *tensor);
  }

  // Tied weights stay one tensor.
  at::Tensor moved(const at::Tensor& tensor) {
    const auto [found, is_new] = moved_.try_emplace(tensor.unsafeGetTensorImpl());
    if (is_new) found->second = tensor.to(*target_);
    return found->second;
  }

  // After all others, since these follow them to their device.
  void bind_constants_of_ir() {
    for (const auto& [placeholder, name] : unbound_) {
      const at::Tensor* tensor = find(ir_.constants, placeholder, name);
      if (tensor == nullptr) continue;
      check(name, *tensor);
      bound_.tensors.set(placeholder, tensor->to(bound_.device));
    }
  }

  static const at::Tensor* find(const StateDict& tensors, const std::string& placeholder,
                                const std::string& name) {
    const at::Tensor* tensor = tensors.find(name);
    return tensor != nullptr ? tensor : tensors.find(placeholder);
  }

  void check(const std::string& name, const at::Tensor& tensor) const {
    if (!tensor.defined())
      throw ExecutionError(fmt::format("Weight '{}' is undefined.", printable(name)));
    if (tensor.is_meta()) {
      throw ExecutionError(
          fmt::format("Weight '{}' is on the meta device: it has no data. Supply its values.",
                      printable(name)));
    }
    const auto found = metas_.find(name);
    if (found == metas_.end()) return;
    const TensorMeta& meta = *found->second;
    if (const std::string difference =
            describe_difference(tensor, meta.shape, parse_dtype(meta.dtype));
        !difference.empty()) {
      throw ExecutionError(fmt::format("Weight '{}' has {}.", printable(name), difference));
    }
  }

  void check_device(const std::string& name, const at::Tensor& tensor) {
    if (!device_) {
      device_ = tensor.device();
      first_name_ = name;
    } else if (*device_ != tensor.device()) {
      throw ExecutionError(fmt::format("Weight '{}' is on {}, but '{}' is on {}.", printable(name),
                                       tensor.device().str(), printable(first_name_),
                                       device_->str()));
    }
  }

  const IR& ir_;
  const StateDict& weights_;
  const StateDict& constants_;
  std::unordered_map<std::string, const TensorMeta*> metas_;
  std::vector<Unbound> unbound_;
  std::optional<c10::Device> target_;
  std::unordered_map<const c10::TensorImpl*, at::Tensor> moved_;
  std::optional<c10::Device> device_;
  std::string first_name_;
  BoundWeights bound_;
};

}  // namespace

BoundWeights bind_weights(const IR& ir, const StateDict& weights, const StateDict& constants,
                          std::optional<c10::Device> device) {
  return WeightBinder(ir, weights, constants, device).bind();
}

}  // namespace torch_ir
