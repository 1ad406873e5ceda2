#include "torch_ir/cases/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/cases/graph_part.h"
#include "torch_ir/cases/strided_copy.h"
#include "torch_ir/executor/interpreter/node_run.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/module_paths.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/executor_registry.h"
#include "torch_ir/verifier/compare_nodes.h"

namespace torch_ir {
namespace {

// Copies a tensor that no case changes. If elements share memory, the copy is contiguous, as in a
// file.
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

// "stride=[2, 2], groups=3"
std::string attributes_text(const AttributeMap& attributes) {
  std::string text;
  for (const auto& [name, value] : attributes) {
    if (name.starts_with('_')) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, attribute_text(value));
  }
  return text;
}

class ModelSplit {
 public:
  explicit ModelSplit(const SplitModel& model)
      : model_(model), ir_(*model.ir), cutter_(ir_), run_(ir_, *model.weights, model.inputs) {
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

  static bool is_case(const OpNode& node) {
    const auto is_tensor = [](const TensorMeta& output) { return !output.is_scalar; };
    return !hands_on_input(find_executor(node.op_type)) &&
           std::ranges::any_of(node.outputs, is_tensor);
  }

  // The same for equal calls. Call it before `node` runs.
  std::string key_of(const OpNode& node) const {
    const AttributeMap attributes = attributes_of(node);
    std::string key = node.op_type + "(" + attributes_text(attributes);
    // The attributes with the lengths of lists distinguish calls too.
    for (const auto& [name, value] : attributes) {
      if (name.starts_with('_')) key += ";" + name + attribute_text(value);
    }
    std::vector<std::string> inputs;
    for (const TensorMeta& input : node.inputs) {
      const std::string name = cutter_.value_name(input);
      const at::Tensor tensor = tensor_of(name);
      const bool is_weight = !values_.contains(name);
      key += fmt::format(";{}{} {} {}", is_weight ? "w" : "i", dtype_name(tensor.scalar_type()),
                         shape_text(tensor.sizes().vec()), shape_text(tensor.strides().vec()));
      if (is_weight) continue;
      // Passing the same tensor twice is another call than passing two tensors.
      const auto known = std::ranges::find(inputs, name);
      if (known != inputs.end()) key += "=" + std::to_string(known - inputs.begin());
      if (known == inputs.end()) inputs.push_back(name);
    }
    // The graphs of control flow are not compared, so each such node is unique.
    if (!node.graphs.empty()) key += ";" + model_.name + "/" + node.name;
    return key;
  }

  void run(size_t index) {
    const OpNode& node = ir_.nodes[index];
    for (const TensorMeta& output : node.outputs) values_[output.name] = run_.value(output.name);
    if (usual_property(node.op_type) == CaseProperty::kShape) {
      // Uninitialized memory would make all later values differ from run to run.
      for (const TensorMeta& output : node.outputs) values_[output.name].zero_();
    }
  }

  void forget(size_t index) {
    for (const std::string& value : read_last_by_[index]) values_.erase(value);
  }

  GraphCase run_case(size_t index) {
    const OpNode& node = ir_.nodes[index];
    RunFacts facts;
    std::unordered_map<std::string, at::Tensor> inputs;
    for (const TensorMeta& input : node.inputs) {
      const std::string name = cutter_.value_name(input);
      facts.shapes[name] = tensor_of(name).sizes().vec();
      // Copy before the node runs, which may write to them.
      if (values_.contains(name)) inputs[name] = copy_of(values_.at(name));
    }
    for (const auto& [name, attribute] : node.attrs) {
      for (const std::string& ref : value_refs(attribute)) {
        facts.numbers[ref] = number_of(values_.at(ref));
      }
    }
    GraphCase graph_case;
    CaseInfo& info = graph_case.info;
    info.op_type = node.op_type;
    info.note = attributes_text(attributes_of(node));
    // A case has no outputs for unread values, so a property may lack what it needs.
    if (node.outputs.size() == 1 || std::ranges::all_of(node.outputs, is_compared())) {
      info.property = usual_property(node.op_type);
    }
    run(index);
    NodeRange range{index, index};
    const bool is_read = std::ranges::any_of(node.outputs, is_compared());
    for (const TensorMeta& output : node.outputs) {
      const at::Tensor& value = values_.at(output.name);
      if (!value.defined()) continue;
      facts.shapes[output.name] = value.sizes().vec();
      if (is_read && !compared_.contains(output.name)) continue;
      range.outputs.push_back(output.name);
      graph_case.expected.push_back(copy_of(value));
    }
    graph_case.ir =
        cutter_
            .cut(range, facts,
                 [&](const std::string& placeholder) { return inputs.contains(placeholder); })
            .ir;
    IR& ir = graph_case.ir;
    ir.constants = StateDict();
    for (const TensorMeta& input : ir.graph_inputs) {
      graph_case.inputs.push_back(inputs.at(input.name));
    }
    for (const auto& item : ir.weight_name_mapping) {
      if (graph_case.weights.contains(item.value())) continue;
      graph_case.weights.insert(item.value(), tensor_of(item.key()));
    }
    return graph_case;
  }

 private:
  std::function<bool(const TensorMeta&)> is_compared() const {
    return [this](const TensorMeta& output) { return compared_.contains(output.name); };
  }

  // With references replaced by the numbers of this run.
  AttributeMap attributes_of(const OpNode& node) const {
    AttributeMap attributes = node.attrs;
    for (const auto& [name, attribute] : node.attrs) {
      attributes.set(name, with_values(attribute, [&](const ValueRef& ref) {
                       return number_of(values_.at(ref.name));
                     }));
    }
    return attributes;
  }

  // Keeps only values in memory that are still to be read.
  void find_last_uses() {
    std::unordered_map<std::string, size_t> last_reader;
    for (size_t i = 0; i < ir_.nodes.size(); ++i) {
      const OpNode& node = ir_.nodes[i];
      for (const TensorMeta& input : node.inputs) last_reader[cutter_.value_name(input)] = i;
      for (const auto& [name, attribute] : node.attrs) {
        for (const std::string& value : value_refs(attribute)) last_reader[value] = i;
      }
      for (const TensorMeta& output : node.outputs) last_reader[output.name] = i;
    }
    for (const auto& [value, node] : last_reader) read_last_by_[node].push_back(value);
  }

  // A value of the run, or a weight that it does not change.
  at::Tensor tensor_of(const std::string& name) const {
    const auto value = values_.find(name);
    if (value != values_.end() && value->second.defined()) return value->second;
    const at::Tensor* weight =
        value == values_.end() ? find_weight(ir_, *model_.weights, name) : nullptr;
    if (weight == nullptr) throw ExecutionError("the graph has no value for '" + name + "'");
    return *weight;
  }

  const SplitModel& model_;
  const IR& ir_;
  const PartCutter cutter_;
  NodeRun run_;
  std::unordered_set<std::string> compared_;
  std::unordered_map<std::string, at::Tensor> values_;
  std::unordered_map<size_t, std::vector<std::string>> read_last_by_;
};

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

CaseOccurrence occurrence_of(const OpNode& node, const std::string& module,
                             const SplitModel& model) {
  const auto source = model.source_lines.find(node.name);
  return {.model = model.name,
          .node = node.name,
          .module = module,
          .source = source == model.source_lines.end() ? "" : source->second};
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
  // No shape has a hyphen, so the name is unique.
  for (size_t number = 2; !names_.insert(info.name).second; ++number) {
    info.name = fmt::format("{}-{}", name, number);
  }
  graph_case.ir.model_name = info.name;
  // Calls of several modules may share the case; the occurrences name them.
  graph_case.ir.nodes.front().module.clear();
}

std::string Splitter::add(const SplitModel& model, const CaseSink& sink) {
  const ComputablePart part = computable_part(*model.ir);
  SplitModel computable = model;
  computable.ir = &part.ir;
  ModelSplit split(computable);
  const std::vector<std::string> modules = module_paths(part.ir);
  bool has_case = false;
  for (size_t i = 0; i < part.ir.nodes.size(); ++i) {
    const OpNode& node = part.ir.nodes[i];
    const bool is_case = ModelSplit::is_case(node);
    has_case = has_case || is_case;
    const std::string key = is_case ? split.key_of(node) : "";
    auto known = by_key_.find(key);
    if (is_case && known == by_key_.end()) {
      // A call that fails is not a case.
      GraphCase graph_case = split.run_case(i);
      describe(graph_case);
      known = by_key_.emplace(key, cases_.size()).first;
      cases_.push_back(graph_case.info);
      sink(graph_case);
    } else {
      split.run(i);
    }
    split.forget(i);
    if (is_case)
      cases_[known->second].occurrences.push_back(occurrence_of(node, modules[i], model));
  }
  return part.is_whole() && !has_case ? "no call returns a tensor" : part.left_out();
}

}  // namespace torch_ir
