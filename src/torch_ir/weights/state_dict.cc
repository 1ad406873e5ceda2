#include "torch_ir/weights/state_dict.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/nn/module.h>

#include <unordered_map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/weights/graph_names.h"

namespace torch_ir {
namespace {

constexpr int64_t kMaxElementsInJson = 65'536;

std::string shape_mismatch(const std::string& name, c10::IntArrayRef expected,
                           c10::IntArrayRef actual) {
  return fmt::format("Shape mismatch for '{}': expected {}, got {}", name,
                     shape_list_text(expected), shape_list_text(actual));
}

void compare(const TensorMeta& expected, const at::Tensor& actual,
             std::vector<std::string>& problems) {
  if (actual.sizes() != c10::IntArrayRef(expected.shape)) {
    problems.push_back(shape_mismatch(printable(expected.name), expected.shape, actual.sizes()));
  }
  const std::string dtype = dtype_name(actual.scalar_type());
  if (dtype != expected.dtype) {
    problems.push_back(fmt::format("Dtype mismatch for '{}': expected {}, got {}",
                                   printable(expected.name), printable(expected.dtype), dtype));
  }
}

}  // namespace

StateDict state_dict(const torch::nn::Module& module) {
  StateDict tensors = module.named_parameters();
  tensors.update(module.named_buffers());
  return tensors;
}

void load_state_dict(torch::nn::Module& module, const StateDict& tensors) {
  const StateDict targets = state_dict(module);
  std::vector<std::string> problems;
  for (const auto& target : targets) {
    const std::string name = printable(target.key());
    const at::Tensor* tensor = tensors.find(target.key());
    if (tensor == nullptr || !tensor->defined()) {
      problems.push_back(
          fmt::format("Missing weight '{}' {}", name, shape_list_text(target.value().sizes())));
    } else if (tensor->sizes() != target.value().sizes()) {
      problems.push_back(shape_mismatch(name, target.value().sizes(), tensor->sizes()));
    } else if (target.value().is_meta() || tensor->is_meta()) {
      problems.push_back(fmt::format("'{}' {} is on the meta device and holds no values", name,
                                     target.value().is_meta() ? "of the module" : "to load"));
    }
  }
  for (const auto& item : tensors) {
    if (targets.contains(item.key())) continue;
    problems.push_back(
        fmt::format("Unexpected weight '{}': the module has none", printable(item.key())));
  }
  if (!problems.empty()) throw WeightError(problem_list(problems, "the module and the weights"));
  const at::NoGradGuard no_grad;
  for (const auto& target : targets) at::Tensor(target.value()).copy_(tensors[target.key()]);
}

std::vector<std::string> validate_weights_against_ir(const StateDict& given, const IR& ir) {
  std::unordered_map<std::string_view, std::string_view> placeholders;
  for (const auto& item : ir.weight_name_mapping) placeholders.emplace(item.value(), item.key());

  const StateDict weights = with_tied_names(given, ir.tied_weights);
  std::vector<std::string> problems;
  for (const TensorMeta& weight : ir.weights) {
    const at::Tensor* tensor = weights.find(weight.name);
    const auto placeholder = placeholders.find(weight.name);
    if (tensor == nullptr && placeholder != placeholders.end()) {
      tensor = weights.find(std::string(placeholder->second));
    }
    if (tensor == nullptr || !tensor->defined()) {
      if (ir.constants.contains(weight.name)) continue;
      problems.push_back(fmt::format("Missing weight '{}' ({} {})", printable(weight.name),
                                     printable(weight.dtype), shape_list_text(weight.shape)));
    } else {
      compare(weight, *tensor, problems);
    }
  }

  std::unordered_set<std::string_view> used;
  for (const TensorMeta& weight : ir.weights) used.insert(weight.name);
  for (const auto& item : ir.weight_name_mapping) used.insert(item.key());
  for (const auto& names : ir.tied_weights) used.insert(names.begin(), names.end());
  warn_about_surplus_weights(weights, used);
  return problems;
}

// A checkpoint of another model has thousands, so only a few are shown.
void warn_about_surplus_weights(const StateDict& weights,
                                const std::unordered_set<std::string_view>& used) {
  constexpr size_t kShown = 5;
  std::vector<std::string> surplus;
  for (const auto& item : weights) {
    if (!used.contains(item.key())) surplus.push_back(item.key());
  }
  if (surplus.empty()) return;
  TORCH_WARN(fmt::format("The graph does not use {} of the weights: {}", surplus.size(),
                         quoted_list(surplus, kShown)));
}

void move_large_constants(IR& ir, StateDict& weights) {
  StateDict small("Constant");
  for (const auto& item : ir.constants) {
    const bool is_large = item.value().numel() > kMaxElementsInJson;
    // Existing weights take precedence over constants of a graph.
    if (is_large && weights.contains(item.key())) continue;
    (is_large ? weights : small).insert(item.key(), item.value());
  }
  ir.constants = std::move(small);
}

}  // namespace torch_ir
