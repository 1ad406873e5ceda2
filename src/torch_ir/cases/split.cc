#include "torch_ir/cases/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/cases/strided_copy.h"
#include "torch_ir/executor/interpreter/node_run.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/executor_registry.h"
#include "torch_ir/verifier/compare_nodes.h"

namespace torch_ir {
namespace {

// Of tensors that no case changes. Where elements share memory, as a file gives them back.
at::Tensor copy_of(const at::Tensor& tensor) {
  try {
    return strided_copy(tensor, tensor.strides());
  } catch (const Error&) {
    return tensor.contiguous();
  }
}

Attribute number_of(const at::Tensor& value) {
  const c10::Scalar number = value.item();
  if (number.isBoolean()) return number.toBool();
  if (number.isFloatingPoint()) return number.toDouble();
  return number.toLong();
}

// `meta` as it was in this run.
TensorMeta fixed(TensorMeta meta, const at::Tensor& value) {
  meta.shape = value.sizes().vec();
  meta.symbolic_shape.clear();
  meta.expression.clear();
  meta.mutates.clear();
  return meta;
}

std::string text_of(const Attribute& attribute) {
  std::ostringstream text;
  text << attribute;
  return text.str();
}

// "stride=[2, 2], groups=3"
std::string attributes_text(const OpNode& node) {
  std::string text;
  for (const auto& [name, value] : node.attrs) {
    if (name.starts_with('_')) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, text_of(value));
  }
  return text;
}

// Goes through the nodes of a model while it runs.
class ModelSplit {
 public:
  explicit ModelSplit(const SplitModel& model)
      : model_(model), ir_(*model.ir), run_(ir_, *model.weights, model.inputs) {
    for (const OpNode& node : ir_.nodes) producers_.emplace(node.name, &node);
    find_last_uses();
    for (const std::string& value : compared_values(ir_)) compared_.insert(value);
    for (size_t i = 0; i < model.inputs.size(); ++i) {
      const std::string& name = ir_.graph_inputs.at(i).name;
      const at::Tensor own = run_.given(name);
      values_[name] = own.defined() ? own : model.inputs[i];
    }
    for (const auto& item : ir_.weight_name_mapping) {
      const at::Tensor own = run_.given(item.key());
      if (own.defined()) values_[item.key()] = own;
    }
  }

  // The call of `node` as a graph, and its key, before it runs; nothing for what is no case.
  struct Call {
    GraphCase graph_case = {};
    std::string key = {};
  };
  std::optional<Call> begin(const OpNode& node) {
    if (hands_on_input(find_executor(node.op_type))) return std::nullopt;
    const bool makes_tensor = std::ranges::any_of(
        node.outputs, [](const TensorMeta& output) { return !output.is_scalar; });
    if (!makes_tensor) return std::nullopt;
    Call call;
    OpNode copy = node;
    for (auto& [name, attribute] : node.attrs) {
      copy.attrs.set(name, with_values(attribute, [&](const ValueRef& ref) {
                       return number_of(values_.at(ref.name));
                     }));
    }
    call.key = node.op_type + "(" + attributes_text(copy);
    // Lists are told apart by their lengths, which are attributes too.
    for (const auto& [name, value] : copy.attrs) {
      if (name.starts_with('_')) call.key += ";" + name + text_of(value);
    }
    for (TensorMeta& input : copy.inputs) add_input(input, call);
    // What a graph inside computes is not looked into.
    if (!node.graphs.empty()) call.key += ";" + model_.name + "/" + node.name;
    call.graph_case.info.op_type = node.op_type;
    // What nobody reads is no output of the case, and then there is nothing to pick from.
    if (node.outputs.size() == 1 || is_read_whole(node)) {
      call.graph_case.info.property = usual_property(node.op_type);
    }
    call.graph_case.info.note = attributes_text(copy);
    call.graph_case.ir.pytorch_version = ir_.pytorch_version;
    call.graph_case.ir.nodes.push_back(std::move(copy));
    return call;
  }

  // Runs `node`. Its results become the outputs of `graph_case`, where there is one.
  void run(const OpNode& node, GraphCase* graph_case) {
    for (const TensorMeta& output : node.outputs) values_[output.name] = run_.value(output.name);
    if (usual_property(node.op_type) == CaseProperty::kShape) {
      // Memory without values would differ from run to run, and what is made of it.
      for (const TensorMeta& output : node.outputs) values_[output.name].zero_();
    }
    if (graph_case != nullptr) add_outputs(node, *graph_case);
    for (const std::string& value : read_last_by_[&node]) values_.erase(value);
  }

 private:
  // By producer, as plans look values up.
  std::string value_name(const TensorMeta& meta) const {
    if (!meta.producer_node) return meta.name;
    const auto producer = producers_.find(*meta.producer_node);
    const auto index = static_cast<size_t>(meta.producer_output_idx);
    const bool is_made = producer != producers_.end() && index < producer->second->outputs.size();
    return is_made ? producer->second->outputs[index].name : meta.name;
  }

  bool is_read_whole(const OpNode& node) const {
    return std::ranges::all_of(
        node.outputs, [&](const TensorMeta& output) { return compared_.contains(output.name); });
  }

  // Memory is that of the values that are still to be read.
  void find_last_uses() {
    std::unordered_map<std::string, const OpNode*> last_reader;
    for (const OpNode& node : ir_.nodes) {
      for (const TensorMeta& input : node.inputs) last_reader[value_name(input)] = &node;
      for (const auto& [name, attribute] : node.attrs) {
        for (const std::string& value : value_refs(attribute)) last_reader[value] = &node;
      }
      for (const TensorMeta& output : node.outputs) last_reader[output.name] = &node;
    }
    for (const auto& [value, node] : last_reader) read_last_by_[node].push_back(value);
  }

  void add_input(TensorMeta& input, Call& call) {
    const std::string name = value_name(input);
    const auto value = values_.find(name);
    const bool is_weight = value == values_.end();
    const at::Tensor tensor = is_weight ? weight(name) : value->second;
    if (!tensor.defined()) {
      throw ExecutionError("the graph has no value for '" + name + "'");
    }
    input = fixed(std::move(input), tensor);
    input.name = name;
    call.key += fmt::format(";{}{} {} {}", is_weight ? "w" : "i", dtype_name(tensor.scalar_type()),
                            shape_text(tensor.sizes().vec()), shape_text(tensor.strides().vec()));
    if (is_weight) return add_weight(input, tensor, call.graph_case);
    input.producer_node = name;
    input.producer_output_idx = 0;
    IR& ir = call.graph_case.ir;
    const auto is_it = [&](const TensorMeta& other) { return other.name == name; };
    if (std::ranges::any_of(ir.graph_inputs, is_it)) {
      // The same tensor twice is another call than two tensors.
      call.key += "=" + std::to_string(std::ranges::find_if(ir.graph_inputs, is_it) -
                                       ir.graph_inputs.begin());
      return;
    }
    ir.graph_inputs.push_back(input);
    ir.graph_inputs.back().arg.clear();
    call.graph_case.inputs.push_back(tensor);
  }

  at::Tensor weight(const std::string& placeholder) const {
    const std::string* name = ir_.weight_name_mapping.find(placeholder);
    for (const StateDict* tensors : {model_.weights, &ir_.constants}) {
      for (const std::string* key : {name, &placeholder}) {
        const at::Tensor* tensor = key == nullptr ? nullptr : tensors->find(*key);
        if (tensor != nullptr) return *tensor;
      }
    }
    return {};
  }

  void add_weight(const TensorMeta& input, const at::Tensor& tensor, GraphCase& graph_case) const {
    IR& ir = graph_case.ir;
    if (ir.weight_name_mapping.contains(input.name)) return;
    const std::string* known = ir_.weight_name_mapping.find(input.name);
    const std::string name = known == nullptr ? input.name : *known;
    ir.weight_name_mapping.insert(input.name, name);
    if (graph_case.weights.contains(name)) return;
    graph_case.weights.insert(name, tensor);
    TensorMeta meta = fixed(input, tensor);
    meta.name = name;
    meta.producer_node.reset();
    meta.arg.clear();
    ir.weights.push_back(std::move(meta));
  }

  void add_outputs(const OpNode& node, GraphCase& graph_case) const {
    const bool is_read = std::ranges::any_of(
        node.outputs, [&](const TensorMeta& output) { return compared_.contains(output.name); });
    OpNode& copy = graph_case.ir.nodes.front();
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const at::Tensor& value = values_.at(node.outputs[i].name);
      if (!value.defined()) continue;
      copy.outputs[i] = fixed(copy.outputs[i], value);
      if (is_read && !compared_.contains(node.outputs[i].name)) continue;
      TensorMeta output = copy.outputs[i];
      output.producer_node = node.name;
      output.producer_output_idx = static_cast<int64_t>(i);
      graph_case.ir.graph_outputs.push_back(std::move(output));
      graph_case.expected.push_back(copy_of(value));
    }
  }

  const SplitModel& model_;
  const IR& ir_;
  NodeRun run_;
  std::unordered_map<std::string, const OpNode*> producers_;
  std::unordered_set<std::string> compared_;
  std::unordered_map<std::string, at::Tensor> values_;
  std::unordered_map<const OpNode*, std::vector<std::string>> read_last_by_;
};

// The first tensor that goes in, or comes out.
const TensorMeta* first_tensor(const IR& ir) {
  const OpNode& node = ir.nodes.front();
  for (const auto* metas : {&node.inputs, &node.outputs}) {
    for (const TensorMeta& meta : *metas) {
      if (!meta.is_scalar) return &meta;
    }
  }
  return nullptr;
}

// "1x3x224x224_64x3x7x7"
std::string shapes_text(const OpNode& node) {
  constexpr size_t kMostShapes = 3;
  std::string text;
  for (size_t i = 0; i < std::min(node.inputs.size(), kMostShapes); ++i) {
    text += (i == 0 ? "" : "_") + shape_text(node.inputs[i].shape);
  }
  return text.empty() ? "no_inputs" : text;
}

CaseOccurrence occurrence_of(const OpNode& node, const SplitModel& model) {
  CaseOccurrence occurrence{.model = model.name, .node = node.name};
  const auto origin = model.origins.find(node.name);
  if (origin != model.origins.end()) {
    occurrence.module = origin->second.module;
    occurrence.source = origin->second.source;
  }
  return occurrence;
}

}  // namespace

Splitter::Splitter(std::vector<CaseInfo> cases, const std::vector<std::string>& keys)
    : cases_(std::move(cases)) {
  for (size_t i = 0; i < cases_.size(); ++i) {
    by_key_.emplace(keys.at(i), i);
    names_.insert(cases_[i].name);
  }
}

std::vector<std::string> Splitter::keys() const {
  std::vector<std::string> keys(cases_.size());
  for (const auto& [key, index] : by_key_) keys[index] = key;
  return keys;
}

void Splitter::describe(GraphCase& graph_case) {
  const TensorMeta* first = first_tensor(graph_case.ir);
  CaseInfo& info = graph_case.info;
  info.category = kSplitCategory;
  info.dtype = first == nullptr ? "" : first->dtype;
  const std::string name =
      fmt::format("{}/{}/{}", info.op_type, info.dtype, shapes_text(graph_case.ir.nodes.front()));
  info.name = name;
  // No shape has a hyphen.
  for (size_t number = 2; !names_.insert(info.name).second; ++number) {
    info.name = fmt::format("{}-{}", name, number);
  }
  graph_case.ir.model_name = info.name;
}

void Splitter::add(const SplitModel& model, const CaseSink& sink) {
  ModelSplit split(model);
  for (const OpNode& node : model.ir->nodes) {
    std::optional<ModelSplit::Call> call = split.begin(node);
    if (!call) {
      split.run(node, nullptr);
      continue;
    }
    auto known = by_key_.find(call->key);
    if (known == by_key_.end()) {
      describe(call->graph_case);
      // Before it runs, which may write to them.
      for (at::Tensor& input : call->graph_case.inputs) input = copy_of(input);
      split.run(node, &call->graph_case);
      // A call that fails is no case.
      known = by_key_.emplace(call->key, cases_.size()).first;
      cases_.push_back(call->graph_case.info);
      sink(call->graph_case);
    } else {
      split.run(node, nullptr);
    }
    cases_[known->second].occurrences.push_back(occurrence_of(node, model));
  }
}

}  // namespace torch_ir
