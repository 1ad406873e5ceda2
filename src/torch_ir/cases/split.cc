#include "torch_ir/cases/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cases/graph_part.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/module_paths.h"
#include "torch_ir/ir/strided_copy.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/op_handler_registry.h"
#include "torch_ir/runtime/graph/graph_memory.h"
#include "torch_ir/runtime/interpreter/node_run.h"

namespace torch_ir {
namespace {

// Copies a tensor that no case changes. If its strides reach too far, the copy is contiguous.
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

// A group that has lost nodes does not run at once.
std::vector<NodeGroup> whole_groups(std::vector<NodeGroup> groups, const IR& ir) {
  std::unordered_set<std::string_view> known;
  for (const OpNode& node : ir.nodes) known.insert(node.name);
  std::erase_if(groups, [&](const NodeGroup& group) {
    return !std::ranges::all_of(group.nodes, [&](const auto& it) { return known.contains(it); });
  });
  return groups;
}

// "aten.matmul.default+aten.div.Tensor"
std::string operators_text(std::span<const OpNode> nodes) {
  constexpr size_t kMostOperators = 3;
  std::string text;
  for (size_t i = 0; i < std::min(nodes.size(), kMostOperators); ++i) {
    text += (i == 0 ? "" : "+") + nodes[i].op_type;
  }
  if (nodes.size() > kMostOperators) text += fmt::format("+{}", nodes.size() - kMostOperators);
  return text;
}

class ModelSplit {
 public:
  explicit ModelSplit(const SplitModel& model)
      : model_(model),
        grouped_(group_nodes(*model.ir, *model.weights, whole_groups(model.groups, *model.ir))),
        ir_(grouped_.ir),
        compared_(grouped_.values.begin(), grouped_.values.end()),
        memory_(ir_, *model.weights),
        cutter_(ir_, memory_, grouped_.spans),
        run_(ir_, *model.weights, model.inputs) {
    find_last_uses();
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

  // The calls, in the order in which they run.
  const std::vector<NodeSpan>& calls() const { return grouped_.spans; }

  std::span<const OpNode> nodes_of(const NodeSpan& call) const { return grouped_.nodes_of(call); }

  bool is_case(const NodeSpan& call) const {
    const auto is_tensor = [](const TensorMeta& output) { return !output.is_scalar; };
    return std::ranges::any_of(nodes_of(call), [&](const OpNode& node) {
      return !hands_on_input(find_op_handler(node.op_type)) &&
             std::ranges::any_of(node.outputs, is_tensor);
    });
  }

  // The same for equal calls. Call it before `call` runs.
  std::string key_of(const NodeSpan& call) const {
    std::string key;
    std::unordered_map<std::string, size_t> inputs;
    std::unordered_map<std::string, size_t> made;
    for (const OpNode& node : nodes_of(call)) {
      const AttributeMap attributes = attributes_of(node);
      key += node.op_type + "(" + attributes_text(attributes);
      // The attributes with the lengths of lists distinguish calls too.
      for (const auto& [name, value] : attributes) {
        if (name.starts_with('_')) key += ";" + name + attribute_text(value);
      }
      for (const TensorMeta& input : node.inputs) {
        const std::string name = cutter_.values().name_of(input);
        if (const auto inside = made.find(name); inside != made.end()) {
          key += fmt::format(";m{}", inside->second);
          continue;
        }
        const at::Tensor tensor = tensor_of(name);
        const bool is_weight = !values_.contains(name);
        key += fmt::format(";{}{} {} {}", is_weight ? "w" : "i", dtype_name(tensor.scalar_type()),
                           shape_text(tensor.sizes().vec()), shape_text(tensor.strides().vec()));
        if (is_weight) continue;
        // Passing the same tensor twice is another call than passing two tensors.
        const auto [known, is_new] = inputs.emplace(name, inputs.size());
        if (!is_new) key += "=" + std::to_string(known->second);
      }
      // The graphs of control flow are not compared, so each such node is unique.
      if (!node.graphs.empty()) key += ";" + model_.name + "/" + node.name;
      for (const TensorMeta& output : node.outputs) {
        made.emplace(output.name, made.size());
        if (call.size() > 1 && compared_.contains(output.name)) key += ";>";
      }
    }
    return key;
  }

  void run(const NodeSpan& call) {
    for (const OpNode& node : nodes_of(call)) {
      for (const TensorMeta& output : node.outputs) values_[output.name] = run_.value(output.name);
      if (usual_property(node.op_type) == CaseProperty::kShape) {
        // Uninitialized memory would make all later values differ from run to run.
        for (const TensorMeta& output : node.outputs) values_[output.name].zero_();
      }
    }
  }

  void forget(const NodeSpan& call) {
    for (size_t i = call.first; i <= call.last; ++i) {
      for (const std::string& value : read_last_by_[i]) values_.erase(value);
    }
  }

  // Runs `call` too. `problem` is why the case is not the call; it stays as it is if it is.
  GraphCase run_case(const NodeSpan& call, std::string& problem) {
    const std::span<const OpNode> nodes = nodes_of(call);
    RunFacts facts;
    std::unordered_map<std::string, at::Tensor> inputs;
    std::unordered_set<std::string> made;
    for (const OpNode& node : nodes) {
      for (const TensorMeta& input : node.inputs) {
        const std::string name = cutter_.values().name_of(input);
        if (made.contains(name)) continue;
        facts.add(name, tensor_of(name));
        // Copy before the node runs, which may write to them.
        if (values_.contains(name)) inputs[name] = copy_of(values_.at(name));
      }
      for (const auto& [name, attribute] : node.attrs) {
        for (const std::string& ref : value_refs(attribute)) {
          if (!made.contains(ref)) facts.numbers[ref] = number_of(values_.at(ref));
        }
      }
      for (const TensorMeta& output : node.outputs) made.insert(output.name);
    }
    GraphCase graph_case;
    CaseInfo& info = graph_case.info;
    info.op_type = operators_text(nodes);
    info.note = call.group.empty() ? attributes_text(attributes_of(nodes.front()))
                                   : fmt::format("group {}", call.group);
    info.property = property_of(nodes);
    run(call);
    NodeRange range{call.first, call.last};
    const bool is_read = std::ranges::any_of(
        nodes, [&](const OpNode& it) { return std::ranges::any_of(it.outputs, is_compared_); });
    for (const OpNode& node : nodes) {
      for (const TensorMeta& output : node.outputs) {
        const at::Tensor& value = values_.at(output.name);
        if (!value.defined()) continue;
        facts.add(output.name, value);
        if (is_read && !compared_.contains(output.name)) continue;
        range.outputs.push_back(output.name);
        graph_case.expected.push_back(copy_of(value));
      }
    }
    GraphPart part = cutter_.cut(
        range, facts, [&](const std::string& placeholder) { return inputs.contains(placeholder); });
    if (call.size() > 1) {
      problem = part.problem;
      if (std::ranges::any_of(nodes, is_free)) problem = "its values are arbitrary";
    }
    graph_case.ir = std::move(part.ir);
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
  CaseProperty property_of(std::span<const OpNode> nodes) const {
    const OpNode& node = nodes.front();
    // A case has no outputs for unread values, so a property may lack what it needs.
    const bool is_whole =
        node.outputs.size() == 1 || std::ranges::all_of(node.outputs, is_compared_);
    return nodes.size() == 1 && is_whole ? usual_property(node.op_type) : CaseProperty::kValues;
  }

  // The executor may choose these values, so they cannot be compared after other nodes.
  static bool is_free(const OpNode& node) {
    const CaseProperty property = usual_property(node.op_type);
    return property != CaseProperty::kValues && property != CaseProperty::kPickedValues;
  }

  // With references replaced by the numbers of this run, as far as these are known.
  AttributeMap attributes_of(const OpNode& node) const {
    AttributeMap attributes = node.attrs;
    for (const auto& [name, attribute] : node.attrs) {
      attributes.set(name, with_values(attribute, [&](const ValueRef& ref) -> Attribute {
                       const auto value = values_.find(ref.name);
                       if (value == values_.end()) return ref;
                       return number_of(value->second);
                     }));
    }
    return attributes;
  }

  // Keeps only those values in memory that are read later.
  void find_last_uses() {
    std::unordered_map<std::string, size_t> last_reader;
    for (size_t i = 0; i < ir_.nodes.size(); ++i) {
      const OpNode& node = ir_.nodes[i];
      cutter_.values().for_each_read(node, [&](const auto& value) { last_reader[value] = i; });
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
  const GroupedGraph grouped_;
  const IR& ir_;
  const std::unordered_set<std::string> compared_;
  const std::function<bool(const TensorMeta&)> is_compared_ = [this](const TensorMeta& output) {
    return compared_.contains(output.name);
  };
  const GraphMemory memory_;
  const PartCutter cutter_;
  NodeRun run_;
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

CaseOccurrence occurrence_of(const OpNode& node, const SplitModel& model) {
  const auto source = model.source_lines.find(node.name);
  return {.model = model.name,
          .node = node.name,
          .module = node.module,
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
  for (OpNode& node : graph_case.ir.nodes) node.module.clear();
}

std::string Splitter::add(const SplitModel& model, const CaseSink& sink) {
  if (!model.groups.empty()) group_nodes(*model.ir, *model.weights, model.groups);
  ComputablePart part = computable_part(*model.ir);
  // Recorded, because groups change the order of nodes.
  const std::vector<std::string> modules = module_paths(part.ir);
  for (size_t i = 0; i < modules.size(); ++i) part.ir.nodes[i].module = modules[i];
  SplitModel computable = model;
  computable.ir = &part.ir;
  ModelSplit split(computable);
  std::string left_out = part.left_out();
  size_t num_dependent_groups = 0;
  bool has_case = false;
  for (const NodeSpan& call : split.calls()) {
    const bool is_case = split.is_case(call);
    has_case = has_case || is_case;
    std::string key = is_case ? split.key_of(call) : "";
    if (is_case && model.keeps_equal) key += model.name + "." + split.nodes_of(call).back().name;
    auto known = by_key_.find(key);
    if (is_case && known == by_key_.end()) {
      // A call that fails is not a case.
      std::string problem;
      GraphCase graph_case = split.run_case(call, problem);
      if (problem.empty()) {
        describe(graph_case);
        known = by_key_.emplace(key, cases_.size()).first;
        cases_.push_back(graph_case.info);
        sink(graph_case);
      } else if (++num_dependent_groups == 1) {
        left_out += fmt::format("{}group '{}' cannot run alone: {}", left_out.empty() ? "" : "; ",
                                printable(call.group), problem);
      }
    } else {
      split.run(call);
    }
    split.forget(call);
    if (known == by_key_.end()) continue;
    cases_[known->second].occurrences.push_back(occurrence_of(split.nodes_of(call).back(), model));
  }
  if (num_dependent_groups > 1) {
    left_out += fmt::format(" (and {} more)", num_dependent_groups - 1);
  }
  return left_out.empty() && !has_case ? "no call returns a tensor" : left_out;
}

}  // namespace torch_ir
