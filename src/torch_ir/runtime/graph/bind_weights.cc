#include "torch_ir/runtime/graph/bind_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/problem_list.h"
#include "torch_ir/ir/strided_copy.h"
#include "torch_ir/ir/tensor_text.h"

namespace torch_ir {
namespace {

class WeightBinder {
 public:
  WeightBinder(const IR& ir, const StateDict& weights, const StateDict& constants,
               std::optional<c10::Device> target, std::vector<std::string>& problems)
      : ir_(ir), weights_(weights), constants_(constants), target_(target), problems_(problems) {
    for (const TensorMeta& meta : ir.weights) metas_.emplace(meta.name, &meta);
  }

  BoundWeights bind() {
    for (const auto& item : ir_.weight_name_mapping) bind(item.key(), item.value());
    for (const TensorMeta& meta : ir_.weights) {
      if (!ir_.weight_name_mapping.contains(meta.name)) bind(meta.name, meta.name);
    }
    if (target_ || device_) bound_.device = target_ ? *target_ : *device_;
    bind_constants_of_ir();
    add_missing();
    if (!problems_.empty()) add_surplus();
    return std::move(bound_);
  }

 private:
  struct Unbound {
    std::string placeholder;
    std::string name;
  };

  void bind(const std::string& placeholder, const std::string& name) {
    names_.insert(placeholder);
    names_.insert(name);
    const at::Tensor* tensor = find(weights_, placeholder, name);
    if (tensor == nullptr) tensor = find(constants_, placeholder, name);
    if (tensor == nullptr) {
      unbound_.push_back({placeholder, name});
      return;
    }
    const bool is_new = !checked_.contains(name);
    if (!check(name, *tensor)) return;
    if (is_new) check_device(name, *tensor);
    bound_.tensors.set(placeholder, placed(name, *tensor));
  }

  // Tied weights stay one tensor.
  at::Tensor placed(const std::string& name, const at::Tensor& tensor) {
    const auto [found, is_new] = placed_.try_emplace(tensor.unsafeGetTensorImpl());
    if (is_new) found->second = with_strides(name, target_ ? tensor.to(*target_) : tensor);
    return found->second;
  }

  // Files of weights and constants of an IR are contiguous.
  at::Tensor with_strides(const std::string& name, const at::Tensor& tensor) {
    const auto found = metas_.find(name);
    if (found == metas_.end() || found->second->strides.empty()) return tensor;
    const std::vector<int64_t>& strides = found->second->strides;
    if (tensor.strides() == strides) return tensor;
    try {
      return strided_copy(tensor, strides);
    } catch (const Error& error) {
      problems_.push_back(fmt::format("Weight '{}': {}.", printable(name), error.what()));
      return tensor;
    }
  }

  // Runs last: these constants follow the others to their device.
  void bind_constants_of_ir() {
    for (const auto& [placeholder, name] : unbound_) {
      const at::Tensor* tensor = find(ir_.constants, placeholder, name);
      if (tensor == nullptr) {
        missing_.emplace(placeholder, name);
      } else if (check(name, *tensor)) {
        bound_.tensors.set(placeholder, with_strides(name, tensor->to(bound_.device)));
      }
    }
  }

  // Adds the missing weights that the graph reads, one line each, at their first reader. A missing
  // weight that is the only problem is reported in the words of the Python package.
  void add_missing() {
    if (missing_.empty()) return;
    std::string only;
    std::string only_name;
    const auto add = [&](const std::string& placeholder, const std::string& reader,
                         const std::string& alone) {
      const auto found = missing_.find(placeholder);
      if (found == missing_.end()) return;
      only = problems_.empty() ? alone : "";
      only_name = found->second == placeholder ? "" : found->second;
      problems_.push_back(fmt::format("Missing weight '{}'{}, read by {}.",
                                      printable(found->second), type_text(found->second), reader));
      missing_.erase(found);
    };
    for (const OpNode& node : ir_.nodes) {
      for (const TensorMeta& input : node.inputs) {
        add(input.name, fmt::format("node '{}'", printable(node.name)),
            fmt::format("Weight/input '{}' not found in registry for node '{}'.",
                        printable(input.name), printable(node.name)));
      }
    }
    for (const TensorMeta& output : ir_.graph_outputs) {
      add(output.name, fmt::format("output '{}'", printable(output.name)),
          fmt::format("Graph output '{}' not found in registry", printable(output.name)));
    }
    if (only.empty() || has_surplus()) return;
    problems_.back() = only;
    bound_.only_missing = only_name;
  }

  std::string type_text(const std::string& name) const {
    const auto found = metas_.find(name);
    if (found == metas_.end()) return {};
    return fmt::format(" ({} {})", printable(found->second->dtype),
                       shape_list_text(*found->second));
  }

  bool is_surplus(const std::string& name) const {
    return !metas_.contains(name) && !names_.contains(name);
  }

  bool has_surplus() const {
    return std::ranges::any_of(weights_, [&](const auto& item) { return is_surplus(item.key()); });
  }

  void add_surplus() {
    for (const auto& item : weights_) {
      if (!is_surplus(item.key())) continue;
      problems_.push_back(
          fmt::format("Unexpected weight '{}': the graph does not use it.", printable(item.key())));
    }
  }

  static const at::Tensor* find(const StateDict& tensors, const std::string& placeholder,
                                const std::string& name) {
    const at::Tensor* tensor = tensors.find(name);
    return tensor != nullptr ? tensor : tensors.find(placeholder);
  }

  bool check(const std::string& name, const at::Tensor& tensor) {
    const auto [checked, is_new] = checked_.try_emplace(name);
    if (is_new) checked->second = fits(name, tensor);
    return checked->second;
  }

  bool fits(const std::string& name, const at::Tensor& tensor) {
    const auto add = [&](const std::string& what) {
      problems_.push_back(fmt::format("Weight '{}' {}.", printable(name), what));
      return false;
    };
    if (!tensor.defined()) return add("is undefined");
    if (tensor.is_meta()) return add("is on the meta device and has no data; supply its values");
    const auto found = metas_.find(name);
    if (found == metas_.end()) return true;
    const std::string difference = describe_difference(tensor, *found->second);
    return difference.empty() || add("has " + difference);
  }

  void check_device(const std::string& name, const at::Tensor& tensor) {
    if (!device_) {
      device_ = tensor.device();
      first_name_ = name;
    } else if (*device_ != tensor.device()) {
      problems_.push_back(fmt::format("Weight '{}' is on {}, but '{}' is on {}.", printable(name),
                                      tensor.device().str(), printable(first_name_),
                                      device_->str()));
    }
  }

  const IR& ir_;
  const StateDict& weights_;
  const StateDict& constants_;
  std::unordered_map<std::string, const TensorMeta*> metas_;
  std::unordered_set<std::string> names_;
  std::vector<Unbound> unbound_;
  std::unordered_map<std::string, bool> checked_;
  std::unordered_map<std::string, std::string> missing_;
  std::optional<c10::Device> target_;
  std::unordered_map<const c10::TensorImpl*, at::Tensor> placed_;
  std::optional<c10::Device> device_;
  std::string first_name_;
  std::vector<std::string>& problems_;
  BoundWeights bound_;
};

}  // namespace

BoundWeights bind_weights(const IR& ir, const StateDict& weights, const StateDict& constants,
                          std::optional<c10::Device> device) {
  std::vector<std::string> problems;
  BoundWeights bound = bind_weights(ir, weights, constants, device, problems);
  if (!problems.empty()) throw ExecutionError(problem_list(problems, "the weights"));
  return bound;
}

BoundWeights bind_weights(const IR& ir, const StateDict& weights, const StateDict& constants,
                          std::optional<c10::Device> device, std::vector<std::string>& problems) {
  return WeightBinder(ir, weights, constants, device, problems).bind();
}

}  // namespace torch_ir
