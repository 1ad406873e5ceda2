#include "torch_ir/runtime/graph/bind_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/problem_list.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/strided_copy.h"
#include "torch_ir/ir/tensor_text.h"

namespace torch_ir {
namespace {

const at::Tensor* find_in(const StateDict& tensors, const Program& program,
                          const GraphInput& input) {
  const at::Tensor* tensor = tensors.find(input.target);
  return tensor != nullptr ? tensor : tensors.find(program[input.value].name);
}

class WeightBinder {
 public:
  WeightBinder(const Case& graph_case, std::optional<c10::Device> target,
               std::vector<std::string>& problems)
      : program_(*graph_case.program),
        weights_(graph_case.weights),
        constants_(graph_case.constants),
        target_(target),
        problems_(problems) {
    bound_.tensors.resize(program_.values.size());
  }

  BoundWeights bind() {
    for (const GraphInput& input : program_.inputs) {
      if (input.kind != InputKind::kUserInput) bind(input);
    }
    if (target_ || device_) bound_.device = target_ ? *target_ : *device_;
    bind_constants_of_program();
    add_missing();
    if (!problems_.empty()) add_surplus();
    return std::move(bound_);
  }

 private:
  void bind(const GraphInput& input) {
    names_.insert(program_[input.value].name);
    names_.insert(input.target);
    const at::Tensor* tensor = find_in(weights_, program_, input);
    if (tensor == nullptr) tensor = find_in(constants_, program_, input);
    if (tensor == nullptr) {
      unbound_.push_back(&input);
      return;
    }
    const bool is_new = !checked_.contains(input.target);
    if (!check(input, *tensor)) return;
    if (is_new) check_device(input.target, *tensor);
    bound_.tensors[input.value] = placed(input, *tensor);
  }

  // Tied weights stay one tensor.
  at::Tensor placed(const GraphInput& input, const at::Tensor& tensor) {
    const auto [found, is_new] = placed_.try_emplace(tensor.unsafeGetTensorImpl());
    if (is_new) found->second = with_strides(input, target_ ? tensor.to(*target_) : tensor);
    return found->second;
  }

  // Files of weights and constants of an IR are contiguous.
  at::Tensor with_strides(const GraphInput& input, const at::Tensor& tensor) {
    const std::vector<int64_t>& strides = program_[input.value].strides;
    if (strides.empty() || tensor.strides() == strides) return tensor;
    try {
      return strided_copy(tensor, strides);
    } catch (const Error& error) {
      problems_.push_back(fmt::format("Weight '{}': {}.", printable(input.target), error.what()));
      return tensor;
    }
  }

  // Runs last: these constants follow the others to their device.
  void bind_constants_of_program() {
    for (const GraphInput* input : unbound_) {
      const at::Tensor* tensor = find_in(program_.constants, program_, *input);
      if (tensor == nullptr) {
        missing_.emplace(input->value, input);
      } else if (check(*input, *tensor)) {
        bound_.tensors[input->value] = with_strides(*input, tensor->to(bound_.device));
      }
    }
  }

  // Adds the missing weights that the graph reads, one line each, at their first reader. A missing
  // weight that is the only problem is reported in the words of the Python package.
  void add_missing() {
    if (missing_.empty()) return;
    std::string only;
    std::string only_name;
    const auto add = [&](ValueId value, const std::string& reader, const std::string& alone) {
      const auto found = missing_.find(value);
      if (found == missing_.end()) return;
      const std::string& name = found->second->target;
      only = problems_.empty() ? alone : "";
      only_name = name == program_[value].name ? "" : name;
      problems_.push_back(fmt::format("Missing weight '{}' ({} {}), read by {}.", printable(name),
                                      dtype_name(program_[value].dtype),
                                      shape_list_text(program_[value]), reader));
      missing_.erase(found);
    };
    for (const Node& node : program_.nodes) {
      for (const ValueId input : node.inputs()) {
        add(input, fmt::format("node '{}'", printable(node.name)),
            fmt::format("Weight/input '{}' not found in registry for node '{}'.",
                        printable(program_[input].name), printable(node.name)));
      }
    }
    for (const ValueId output : program_.outputs) {
      const std::string name = printable(program_[output].name);
      add(output, fmt::format("output '{}'", name),
          fmt::format("Graph output '{}' not found in registry", name));
    }
    if (only.empty() || has_surplus()) return;
    problems_.back() = only;
    bound_.only_missing = only_name;
  }

  bool is_surplus(const std::string& name) const { return !names_.contains(name); }

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

  bool check(const GraphInput& input, const at::Tensor& tensor) {
    const auto [checked, is_new] = checked_.try_emplace(input.target);
    if (is_new) checked->second = fits(input, tensor);
    return checked->second;
  }

  bool fits(const GraphInput& input, const at::Tensor& tensor) {
    const auto add = [&](const std::string& what) {
      problems_.push_back(fmt::format("Weight '{}' {}.", printable(input.target), what));
      return false;
    };
    if (!tensor.defined()) return add("is undefined");
    if (tensor.is_meta()) return add("is on the meta device and has no data; supply its values");
    const std::string difference = describe_difference(tensor, program_[input.value]);
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

  const Program& program_;
  const StateDict& weights_;
  const StateDict& constants_;
  std::unordered_set<std::string> names_;
  std::vector<const GraphInput*> unbound_;
  std::unordered_map<std::string, bool> checked_;
  std::unordered_map<ValueId, const GraphInput*> missing_;
  std::optional<c10::Device> target_;
  std::unordered_map<const c10::TensorImpl*, at::Tensor> placed_;
  std::optional<c10::Device> device_;
  std::string first_name_;
  std::vector<std::string>& problems_;
  BoundWeights bound_;
};

}  // namespace

const at::Tensor* find_weight(const Case& graph_case, const GraphInput& input) {
  const Program& program = *graph_case.program;
  for (const StateDict* tensors :
       {&graph_case.weights, &graph_case.constants, &program.constants}) {
    if (const at::Tensor* tensor = find_in(*tensors, program, input)) return tensor;
  }
  return nullptr;
}

BoundWeights bind_weights(const Case& graph_case, std::optional<c10::Device> device) {
  std::vector<std::string> problems;
  BoundWeights bound = bind_weights(graph_case, device, problems);
  if (!problems.empty()) throw ExecutionError(problem_list(problems, "the weights"));
  return bound;
}

BoundWeights bind_weights(const Case& graph_case, std::optional<c10::Device> device,
                          std::vector<std::string>& problems) {
  return WeightBinder(graph_case, device, problems).bind();
}

}  // namespace torch_ir
