#include "torch_ir/exporter/capture/capture.h"

#include <fmt/format.h>
#include <torch/nn/module.h>
#include <torch/version.h>

#include <algorithm>
#include <unordered_set>

#include "torch_ir/base/error.h"
#include "torch_ir/exporter/capture/dynamic_sizes.h"
#include "torch_ir/exporter/capture/lifted_constants.h"
#include "torch_ir/exporter/capture/python_form.h"
#include "torch_ir/exporter/capture/recorder.h"
#include "torch_ir/exporter/meta/meta_kernels.h"
#include "torch_ir/ir/strided_copy.h"
#include "torch_ir/runtime/graph/state.h"
#include "torch_ir/weights/graph_names.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

StateDict without_ties(const StateDict& tensors) {
  StateDict unique;
  std::unordered_set<const c10::TensorImpl*> seen;
  for (const auto& item : tensors) {
    if (seen.insert(item.value().unsafeGetTensorImpl()).second) {
      unique.insert(item.key(), item.value());
    }
  }
  return unique;
}

ModuleState state_of(const Model& model) {
  if (model.module() == nullptr) return ModuleState();
  const torch::nn::Module& module = *model.module();
  return {without_ties(module.named_parameters()), without_ties(module.named_buffers()),
          list_constants(module), tied_names(state_dict(module))};
}

bool all_on_meta(const StateDict& tensors) {
  return std::ranges::all_of(tensors, [](const auto& item) { return item.value().is_meta(); });
}

void check_strict(const ModuleState& state, const std::vector<at::Tensor>& inputs) {
  const bool is_weight_free = all_on_meta(state.parameters) && all_on_meta(state.buffers) &&
                              std::ranges::all_of(inputs, &at::Tensor::is_meta);
  if (!is_weight_free) {
    throw ExportError("Model must be on meta device for weight-free IR extraction.");
  }
}

std::vector<std::string> input_names(const std::vector<at::Tensor>& inputs,
                                     const ExportOptions& options) {
  if (options.input_names.empty()) {
    if (inputs.size() == 1) return {"x"};
    std::vector<std::string> names;
    for (size_t i = 1; i <= inputs.size(); ++i) names.push_back(fmt::format("x{}", i));
    return names;
  }
  if (options.input_names.size() != inputs.size()) {
    throw ExportError(fmt::format("wrong number of input names: {}, expected {}",
                                  options.input_names.size(), inputs.size()));
  }
  return options.input_names;
}

// Whether the capture runs without data; weights on meta require inputs on meta.
bool runs_on_meta(const ModuleState& state, const std::vector<at::Tensor>& inputs) {
  const auto undefined = std::ranges::find_if_not(inputs, &at::Tensor::defined);
  if (undefined != inputs.end()) {
    throw ExportError(fmt::format("input {} is undefined", undefined - inputs.begin()));
  }
  if (inputs.empty()) return !state.parameters.is_empty() && all_on_meta(state.parameters);
  const auto real = std::ranges::find_if_not(inputs, &at::Tensor::is_meta);
  if (real == inputs.end()) return true;
  if (std::ranges::any_of(inputs, &at::Tensor::is_meta)) {
    throw ExportError(
        fmt::format("input {} is on {} while others are on meta: put all inputs on "
                    "one device",
                    real - inputs.begin(), real->device().str()));
  }
  for (const StateDict* tensors : {&state.parameters, &state.buffers}) {
    for (const auto& item : *tensors) {
      if (!item.value().is_meta()) continue;
      throw ExportError(
          fmt::format("'{}' is on meta, but input 0 is on {}: put the inputs on meta "
                      "as well (torch::Device(torch::kMeta))",
                      item.key(), inputs[0].device().str()));
    }
  }
  return false;
}

Program capture(const Model& model, const std::vector<at::Tensor>& inputs,
                const ExportOptions& options) {
  const ModuleState state = state_of(model);
  const std::vector<std::string> names = input_names(inputs, options);
  const bool on_meta = runs_on_meta(state, inputs);
  if (on_meta) register_meta_kernels();
  const auto record_on = [&](const std::vector<at::Tensor>& tensors) {
    return record_calls(model, state, names, tensors, on_meta);
  };
  DynamicSizes sizes(options.dynamic, names, inputs);
  Recording recording = record_on(inputs);
  if (!options.dynamic.empty()) sizes.find_expressions(recording, record_on);

  Program program;
  static_cast<Graph&>(program) = std::move(recording.graph);
  name_graph(program);
  program.constants = std::move(recording.constants);
  program.tied_weights = state.ties;
  sizes.apply(program);
  set_input_strides(program, inputs);
  add_state(program, recording.made_constants);
  return program;
}

}  // namespace

Program export_model(const Model& model, const std::vector<at::Tensor>& inputs,
                     const ExportOptions& options) {
  if (options.strict) check_strict(state_of(model), inputs);
  const std::string name = options.model_name.empty() ? class_name(model) : options.model_name;
  try {
    Program program = capture(model, inputs, options);
    program.model_name = name;
    program.torch_version = TORCH_VERSION;
    return program;
  } catch (const Error& error) {
    throw ExportError(
        error, fmt::format("cannot export {}: {}",
                           name.empty() ? "the model" : "model '" + name + "'", error.what()));
  }
}

}  // namespace torch_ir
