#include "torch_ir/runtime/graph/bind_weights.h"

#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <unordered_map>
#include <unordered_set>

#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"
#include "torch_ir/ir/strided_copy.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/weights/graph_names.h"

namespace torch_ir {
namespace {

const at::Tensor* find_in(const StateDict& tensors, const Program& program,
                          const GraphInput& input) {
  const at::Tensor* tensor = tensors.find(input.target);
  return tensor != nullptr ? tensor : tensors.find(program[input.value].name);
}

// The most misfits, missing and surplus weights that are listed one by one.
constexpr size_t kMaxListed = 8;

class WeightBinder {
 public:
  WeightBinder(const Case& graph_case, std::optional<c10::Device> target,
               std::vector<std::string>& problems)
      : program_(*graph_case.program),
        weights_(with_graph_names(graph_case.weights, program_)),
        constants_(graph_case.constants),
        target_(target),
        problems_(problems) {
    bound_.tensors.resize(program_.values.size());
  }

  BoundWeights bind() {
    check_ties();
    for (const GraphInput& input : program_.inputs) {
      if (input.kind != InputKind::kUserInput) bind(input);
    }
    if (target_ || device_) bound_.device = target_ ? *target_ : *device_;
    bind_constants_of_program();
    add_some(misfits_);
    add_missing_and_surplus();
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
    if (is_new) found->second = as_declared(input, target_ ? tensor.to(*target_) : tensor);
    return found->second;
  }

  // The caller's tensor stays as it is.
  at::Tensor as_declared(const GraphInput& input, const at::Tensor& tensor) {
    const at::Tensor laid_out = with_strides(input, tensor);
    const bool requires_grad = program_[input.value].requires_grad &&
                               (laid_out.is_floating_point() || laid_out.is_complex());
    if (laid_out.requires_grad() == requires_grad) return laid_out;
    // Views of inference tensors would not require a gradient.
    const c10::InferenceMode no_inference_mode(false);
    return (laid_out.is_inference() ? laid_out.clone() : laid_out.detach())
        .requires_grad_(requires_grad);
  }

  // Files of weights and constants of an IR are contiguous.
  at::Tensor with_strides(const GraphInput& input, const at::Tensor& tensor) {
    const std::vector<int64_t>& strides = program_[input.value].strides;
    if (strides.empty() || tensor.strides() == strides) return tensor;
    try {
      return strided_copy(tensor, strides);
    } catch (const Error& error) {
      misfits_.push_back(fmt::format("Weight '{}': {}.", printable(input.target), error.what()));
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
        bound_.tensors[input->value] = as_declared(*input, tensor->to(bound_.device));
      }
    }
  }

  // Equal values of a tied weight are one tensor by now.
  void check_ties() {
    for (const std::vector<std::string>& names : program_.tied_weights) {
      names_.insert(names.begin(), names.end());
      std::vector<std::string> given = names;
      std::erase_if(given, [&](const std::string& name) { return !weights_.contains(name); });
      for (const std::string& name : given) {
        if (weights_[name].is_same(weights_[given.front()])) continue;
        misfits_.push_back(
            fmt::format("Weights '{}' and '{}' are tied in the graph, but their values differ; "
                        "give one of them.",
                        printable(given.front()), printable(name)));
      }
    }
  }

  // The missing weights that the graph reads, one line each, at their first reader.
  std::vector<std::string> missing_lines() {
    std::vector<std::string> lines;
    const auto add = [&](ValueId value, const std::string& reader, const std::string& alone) {
      const auto found = missing_.find(value);
      if (found == missing_.end()) return;
      bound_.only_missing = alone;
      const Value& missing = program_[value];
      // Documents tell constants by their placeholders only.
      lines.push_back(fmt::format(
          fmt::runtime(missing.name.starts_with("c_")
                           ? "Constant '{}' ({}), read by {}, has no values: pass it in "
                             "`constants`."
                           : "Missing weight '{}' ({}), read by {}."),
          printable(found->second->target), dtype_and_shape(missing), reader));
      missing_names_.push_back(found->second->target);
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
    return lines;
  }

  // Adds `lines`, of many only the first.
  void add_some(const std::vector<std::string>& lines) {
    std::ranges::copy(lines | std::views::take(kMaxListed), std::back_inserter(problems_));
    if (lines.size() <= kMaxListed) return;
    const size_t rest = lines.size() - kMaxListed;
    problems_.push_back(fmt::format("... and {} more such weight{}.", rest, rest == 1 ? "" : "s"));
  }

  void add_missing_and_surplus() {
    const std::vector<std::string> missing = missing_lines();
    std::vector<std::string> surplus = weights_.keys();
    std::erase_if(surplus, [&](const std::string& name) { return names_.contains(name); });
    if (missing.size() != 1 || !surplus.empty() || !problems_.empty()) bound_.only_missing.clear();
    const bool fits_nothing = !missing.empty() && surplus.size() == weights_.size();
    if (fits_nothing && !surplus.empty() && missing.size() + surplus.size() > kMaxListed) {
      constexpr size_t kShown = 3;
      problems_.push_back(fmt::format(
          "The weights have other names than the graph's: they are {}, and the graph reads {}.",
          quoted_list(surplus, kShown), quoted_list(missing_names_, kShown)));
      return;
    }
    add_some(missing);
    if (problems_.empty()) return;
    for (std::string& name : surplus) {
      name = fmt::format("Unexpected weight '{}': the graph does not use it.", printable(name));
    }
    add_some(surplus);
  }

  bool check(const GraphInput& input, const at::Tensor& tensor) {
    const auto [checked, is_new] = checked_.try_emplace(input.target);
    if (is_new) checked->second = fits(input, tensor);
    return checked->second;
  }

  bool fits(const GraphInput& input, const at::Tensor& tensor) {
    const auto add = [&](const std::string& what) {
      misfits_.push_back(fmt::format("Weight '{}' {}.", printable(input.target), what));
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
      misfits_.push_back(fmt::format("Weight '{}' is on {}, but '{}' is on {}.", printable(name),
                                     tensor.device().str(), printable(first_name_),
                                     device_->str()));
    }
  }

  const Program& program_;
  const StateDict weights_;
  const StateDict& constants_;
  std::unordered_set<std::string> names_;
  std::vector<const GraphInput*> unbound_;
  std::unordered_map<std::string, bool> checked_;
  std::unordered_map<ValueId, const GraphInput*> missing_;
  std::vector<std::string> missing_names_;
  std::vector<std::string> misfits_;
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
  if (!bound.only_missing.empty()) throw MissingWeight(problems.front(), bound.only_missing);
  if (!problems.empty()) throw ExecutionError(problem_list(problems, "the weights"));
  return bound;
}

BoundWeights bind_weights(const Case& graph_case, std::optional<c10::Device> device,
                          std::vector<std::string>& problems) {
  return WeightBinder(graph_case, device, problems).bind();
}

}  // namespace torch_ir
