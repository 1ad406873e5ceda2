#include "torch_ir/converter/graph_analyzer.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

// The order of a state dict: parameters, buffers, then constants.
constexpr std::array kWeightKinds = {InputKind::kParameter, InputKind::kBuffer,
                                     InputKind::kConstant};

template <class Visit>
void for_each_weight(const ExportedGraph& graph, Visit visit) {
  for (const InputKind kind : kWeightKinds) {
    for (const ExportedInput& input : graph.inputs) {
      if (input.kind == kind) visit(input);
    }
  }
}

}  // namespace

GraphAnalyzer::GraphAnalyzer(const ExportedGraph& graph)
    : graph_(graph), producers_(graph.values.size()) {
  const auto set = [&](ValueId value, const std::string& node, size_t index) {
    producers_.at(static_cast<size_t>(value)) = {node, static_cast<int64_t>(index)};
  };
  for (const ExportedInput& input : graph.inputs) {
    if (input.kind == InputKind::kUserInput) set(input.value, graph[input.value].name, 0);
  }
  for (const ExportedNode& node : graph.nodes) {
    for (size_t i = 0; i < node.outputs.size(); ++i) set(node.outputs[i], node.name, i);
  }
}

std::vector<TensorMeta> GraphAnalyzer::get_graph_inputs() const {
  std::vector<TensorMeta> inputs;
  for (const ExportedInput& input : graph_.inputs) {
    if (input.kind == InputKind::kUserInput) inputs.push_back(get_output_meta(input.value));
  }
  return inputs;
}

std::vector<TensorMeta> GraphAnalyzer::get_graph_outputs() const {
  std::vector<TensorMeta> outputs;
  for (const ValueId output : graph_.outputs) outputs.push_back(get_output_meta(output));
  if (program_ == nullptr) return outputs;
  for (const ExportedMutation& mutation : program_->mutations) {
    outputs.at(mutation.output).mutates = graph_[mutation.placeholder].name;
  }
  return outputs;
}

std::vector<TensorMeta> GraphAnalyzer::get_weights() const {
  std::vector<TensorMeta> weights;
  for_each_weight(graph_, [&](const ExportedInput& input) {
    weights.push_back(get_output_meta(input.value));
    weights.back().name = input.target;
    weights.back().strides = graph_[input.value].strides;
  });
  return weights;
}

torch::OrderedDict<std::string, std::string> GraphAnalyzer::get_weight_name_mapping() const {
  torch::OrderedDict<std::string, std::string> mapping("Placeholder");
  for_each_weight(graph_, [&](const ExportedInput& input) {
    mapping.insert(graph_[input.value].name, input.target);
  });
  return mapping;
}

StateDict GraphAnalyzer::get_constants() const {
  StateDict constants("Constant");
  if (program_ == nullptr) return constants;
  std::vector<std::string> skipped;
  for (const auto& item : program_->constants) {
    if (item.value().is_meta()) {
      skipped.push_back("'" + printable(item.key()) + "'");
    } else {
      constants.insert(item.key(), item.value());
    }
  }
  if (!skipped.empty()) {
    TORCH_WARN(
        fmt::format("Skipping {} meta-device constant(s) (shape/dtype already in weights): [{}]",
                    skipped.size(), fmt::join(skipped, ", ")));
  }
  return constants;
}

TensorMeta GraphAnalyzer::get_input_meta(ValueId value) const {
  TensorMeta meta = get_output_meta(value);
  if (const auto& producer = producers_[static_cast<size_t>(value)]) {
    meta.producer_node = producer->node;
    meta.producer_output_idx = producer->output_idx;
  }
  return meta;
}

TensorMeta GraphAnalyzer::get_output_meta(ValueId value) const {
  if (static_cast<size_t>(value) >= graph_.values.size()) {
    throw ConversionError(
        fmt::format("the exported program has no value {}", static_cast<size_t>(value)));
  }
  const ExportedValue& known = graph_[value];
  TensorMeta meta;
  meta.name = known.name;
  meta.shape = known.shape;
  meta.dtype = dtype_name(known.dtype);
  meta.symbolic_shape = known.symbolic_shape;
  meta.is_scalar = known.is_scalar;
  meta.expression = known.expression;
  return meta;
}

ValueId GraphAnalyzer::find(const std::string& name) const {
  if (const auto value = graph_.find(name)) return *value;
  throw ConversionError("the exported program has no value '" + printable(name) + "'");
}

}  // namespace torch_ir
