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

// The order of a state dict: parameters, buffers, then what is not in one.
constexpr std::array kWeightKinds = {InputKind::kParameter, InputKind::kBuffer,
                                     InputKind::kConstant};

// Every weight placeholder of `graph`, in the order of kWeightKinds.
template <class Visit>
void for_each_weight(const ExportedGraph& graph, Visit visit) {
  for (const InputKind kind : kWeightKinds) {
    for (const ExportedInput& input : graph.inputs) {
      if (input.kind == kind) visit(input);
    }
  }
}

}  // namespace

GraphAnalyzer::GraphAnalyzer(const ExportedProgram& program)
    : GraphAnalyzer(static_cast<const ExportedGraph&>(program)) {
  program_ = &program;
}

GraphAnalyzer::GraphAnalyzer(const ExportedGraph& graph) : graph_(graph) {
  for (const ExportedInput& input : graph.inputs) {
    if (input.kind == InputKind::kUserInput) producers_[input.name] = {input.name, 0};
  }
  for (const ExportedNode& node : graph.nodes) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      producers_[node.outputs[i]] = {node.name, static_cast<int64_t>(i)};
    }
  }
}

std::vector<TensorMeta> GraphAnalyzer::get_graph_inputs() const {
  std::vector<TensorMeta> inputs;
  for (const ExportedInput& input : graph_.inputs) {
    if (input.kind == InputKind::kUserInput) inputs.push_back(get_output_meta(input.name));
  }
  return inputs;
}

std::vector<TensorMeta> GraphAnalyzer::get_graph_outputs() const {
  std::vector<TensorMeta> outputs;
  for (const std::string& output : graph_.outputs) outputs.push_back(get_output_meta(output));
  if (program_ == nullptr) return outputs;
  for (const ExportedMutation& mutation : program_->mutations) {
    outputs.at(mutation.output).mutates = mutation.placeholder;
  }
  return outputs;
}

std::vector<TensorMeta> GraphAnalyzer::get_weights() const {
  std::vector<TensorMeta> weights;
  for_each_weight(graph_, [&](const ExportedInput& input) {
    weights.push_back(get_output_meta(input.name));
    weights.back().name = input.target;
  });
  return weights;
}

torch::OrderedDict<std::string, std::string> GraphAnalyzer::get_weight_name_mapping() const {
  torch::OrderedDict<std::string, std::string> mapping("Placeholder");
  for_each_weight(graph_,
                  [&](const ExportedInput& input) { mapping.insert(input.name, input.target); });
  return mapping;
}

const std::vector<ExportedNode>& GraphAnalyzer::get_call_function_nodes() const {
  return graph_.nodes;
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

TensorMeta GraphAnalyzer::get_input_meta(const std::string& name) const {
  TensorMeta meta = get_output_meta(name);
  if (const auto producer = producers_.find(name); producer != producers_.end()) {
    meta.producer_node = producer->second.node;
    meta.producer_output_idx = producer->second.output_idx;
  }
  return meta;
}

TensorMeta GraphAnalyzer::get_output_meta(const std::string& name) const {
  const auto value = graph_.values.find(name);
  if (value == graph_.values.end()) {
    throw ConversionError("the exported program has no value '" + printable(name) + "'");
  }
  TensorMeta meta;
  meta.name = name;
  meta.shape = value->second.shape;
  meta.dtype = dtype_name(value->second.dtype);
  meta.symbolic_shape = value->second.symbolic_shape;
  meta.is_scalar = value->second.is_scalar;
  meta.expression = value->second.expression;
  return meta;
}

}  // namespace torch_ir
