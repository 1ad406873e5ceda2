#include "torch_ir/cases/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cases/graph_part.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/module_paths.h"
#include "torch_ir/ir/strided_copy.h"
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
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, attribute_text(value));
  }
  return text;
}

// A group that has lost nodes does not run at once.
std::vector<NodeGroup> whole_groups(std::vector<NodeGroup> groups, const Program& program) {
  std::unordered_set<std::string_view> known;
  for (const Node& node : program.nodes) known.insert(node.name);
  std::erase_if(groups, [&](const NodeGroup& group) {
    return !std::ranges::all_of(group.nodes,
                                [&](const auto& node) { return known.contains(node); });
  });
  return groups;
}

// "aten.matmul.default+aten.div.Tensor"
std::string operators_text(std::span<const Node> nodes) {
  constexpr size_t kMostOperators = 3;
  std::string text;
  for (size_t i = 0; i < std::min(nodes.size(), kMostOperators); ++i) {
    text += (i == 0 ? "" : "+") + nodes[i].target;
  }
  if (nodes.size() > kMostOperators) text += fmt::format("+{}", nodes.size() - kMostOperators);
  return text;
}

std::string dtype_of_first_tensor(const Program& program) {
  const Node& node = program.nodes.front();
  for (const auto& ids : {node.inputs(), node.outputs}) {
    for (const ValueId id : ids) {
      if (!program[id].is_scalar) return dtype_name(program[id].dtype);
    }
  }
  return {};
}

// "1x3x224x224_64x3x7x7"
std::string shapes_text(const Program& program) {
  constexpr size_t kMostShapes = 3;
  std::string text;
  const std::vector<ValueId> inputs = program.nodes.front().inputs();
  for (size_t i = 0; i < std::min(inputs.size(), kMostShapes); ++i) {
    text += (i == 0 ? "" : "_") + shape_text(program[inputs[i]].shape);
  }
  return text.empty() ? "no_inputs" : text;
}

GroupedGraph grouped(const SplitModel& model, const std::vector<NodeGroup>& groups) {
  return group_nodes(*model.content.program, memory_of(model.content), groups);
}

class ModelSplit {
 public:
  explicit ModelSplit(const SplitModel& model)
      : model_(model),
        grouped_(grouped(model, whole_groups(model.groups, *model.content.program))),
        program_(grouped_.program),
        is_compared_(program_.values.size()),
        run_(model.content.with(program_)),
        values_(program_.values.size()),
        weights_(program_.values.size()) {
    for (const ValueId value : grouped_.values) is_compared_[value] = true;
    find_last_uses();
    for (const GraphInput& input : program_.inputs) {
      // The run has copies of what it writes to.
      const bool is_written = run_.graph().values[input.value].is_written;
      if (input.kind == InputKind::kUserInput || is_written) {
        values_[input.value] = run_.current(input.value);
      } else if (const at::Tensor* weight = find_weight(model.content, input)) {
        weights_[input.value] = *weight;
      }
    }
  }

  // The calls, in the order in which they run.
  const std::vector<NodeSpan>& calls() const { return grouped_.spans; }

  std::span<const Node> nodes_of(const NodeSpan& call) const { return grouped_.nodes_of(call); }

  bool is_case(const NodeSpan& call) const {
    return std::ranges::any_of(nodes_of(call), [&](const Node& node) {
      return !returns_input(find_op_handler(node.target)) &&
             std::ranges::any_of(node.outputs,
                                 [&](ValueId output) { return !program_[output].is_scalar; });
    });
  }

  // The same for equal calls. Call it before `call` runs.
  std::string key_of(const NodeSpan& call) const {
    std::string key;
    std::unordered_map<ValueId, size_t> inputs;
    std::unordered_map<ValueId, size_t> inner;
    for (const Node& node : nodes_of(call)) {
      key += node.target + "(" + attributes_text(attributes_of(node));
      for (const Argument& argument : node.arguments) {
        if (std::holds_alternative<Attribute>(argument.value)) continue;
        // The lengths of lists, and where they hold None, distinguish calls too.
        key += ";" + argument.name;
        if (const auto* list = std::get_if<ValueList>(&argument.value)) {
          for (const auto& item : *list) key += item ? "." : "_";
        }
        for_each_value(argument, [&](ValueId value) {
          if (const auto found = inner.find(value); found != inner.end()) {
            key += fmt::format(";m{}", found->second);
            return;
          }
          const at::Tensor tensor = tensor_of(value);
          const bool is_weight = !values_[value].defined();
          key += fmt::format(";{}{} {} {}", is_weight ? "w" : "i", dtype_name(tensor.scalar_type()),
                             shape_text(tensor.sizes().vec()), shape_text(tensor.strides().vec()));
          if (is_weight) return;
          // Passing the same tensor twice is another call than passing two tensors.
          const auto [known, is_new] = inputs.emplace(value, inputs.size());
          if (!is_new) key += "=" + std::to_string(known->second);
        });
      }
      // The graphs of control flow are not compared, so each such node is unique.
      if (!node.graphs.empty()) key += ";" + model_.name + "/" + node.name;
      for (const ValueId output : node.outputs) {
        inner.emplace(output, inner.size());
        if (call.size() > 1 && is_compared_[output]) key += ";>";
      }
    }
    return key;
  }

  void run(const NodeSpan& call) {
    for (const Node& node : nodes_of(call)) {
      for (const ValueId output : node.outputs) values_[output] = run_.value(output);
      if (usual_property(node.target) == CaseProperty::kShape) {
        // Uninitialized memory would make all later values differ from run to run.
        for (const ValueId output : node.outputs) values_[output].zero_();
      }
    }
  }

  void forget(const NodeSpan& call) {
    for (size_t i = call.first; i <= call.last; ++i) {
      for (const ValueId value : read_last_by_[i]) values_[value] = at::Tensor();
    }
  }

  // Runs `call` too. `problem` is why the case is not the call; it stays as it is if it is.
  SuiteCase run_case(const NodeSpan& call, std::string& problem) {
    const std::span<const Node> nodes = nodes_of(call);
    RunFacts facts;
    std::unordered_map<ValueId, at::Tensor> inputs;
    std::unordered_set<ValueId> inner;
    for (const Node& node : nodes) {
      for (const ValueId input : node.inputs()) {
        if (inner.contains(input)) continue;
        facts.add(program_[input].name, tensor_of(input));
        // Copy before the node runs, which may write to them.
        if (values_[input].defined()) inputs[input] = copy_of(values_[input]);
      }
      for (const Argument& argument : node.arguments) {
        for (const ValueId number : argument.numbers) {
          if (inner.contains(number)) continue;
          facts.numbers[program_[number].name] = number_of(values_[number]);
        }
      }
      inner.insert(node.outputs.begin(), node.outputs.end());
    }
    SuiteCase suite_case;
    Case& content = suite_case.content;
    CaseInfo& info = suite_case.info;
    info.op_type = operators_text(nodes);
    info.note = call.group.empty() ? attributes_text(attributes_of(nodes.front()))
                                   : fmt::format("group {}", call.group);
    info.property = property_of(nodes);
    run(call);
    NodeRange range{call.first, call.last};
    const auto is_compared = [&](ValueId output) { return is_compared_[output]; };
    const bool is_read = std::ranges::any_of(
        nodes, [&](const Node& node) { return std::ranges::any_of(node.outputs, is_compared); });
    for (const Node& node : nodes) {
      for (const ValueId output : node.outputs) {
        if (!values_[output].defined()) continue;
        facts.add(program_[output].name, values_[output]);
        if (is_read && !is_compared_[output]) continue;
        range.outputs.push_back(output);
        content.expected.push_back(copy_of(values_[output]));
      }
    }
    GraphPart part = cut_part(grouped_, run_.graph().memory, range, facts,
                              [&](ValueId placeholder) { return inputs.contains(placeholder); });
    if (call.size() > 1) {
      problem = part.problem;
      if (std::ranges::any_of(nodes, is_free)) problem = "its values are arbitrary";
    }
    part.program.constants = StateDict();
    for (const GraphInput& input : part.program.inputs) {
      const ValueId whole = program_.find(part.program[input.value].name).value();
      if (input.kind == InputKind::kUserInput) {
        content.inputs.push_back(inputs.at(whole));
      } else if (!content.weights.contains(input.target)) {
        content.weights.insert(input.target, tensor_of(whole));
      }
    }
    info.dtype = dtype_of_first_tensor(part.program);
    info.name = fmt::format("{}/{}/{}", info.op_type, info.dtype, shapes_text(part.program));
    // Calls of several modules may share the case; the occurrences name them.
    for (Node& node : part.program.nodes) node.origin = {};
    content.program = std::make_shared<const Program>(std::move(part.program));
    return suite_case;
  }

 private:
  CaseProperty property_of(std::span<const Node> nodes) const {
    const Node& node = nodes.front();
    // A case has no outputs for unread values, so a property may lack what it needs.
    const bool is_whole =
        node.outputs.size() == 1 ||
        std::ranges::all_of(node.outputs, [&](ValueId output) { return is_compared_[output]; });
    return nodes.size() == 1 && is_whole ? usual_property(node.target) : CaseProperty::kValues;
  }

  // The executor may choose these values, so they cannot be compared after other nodes.
  static bool is_free(const Node& node) {
    const CaseProperty property = usual_property(node.target);
    return property != CaseProperty::kValues && property != CaseProperty::kPickedValues;
  }

  // With references replaced by the numbers of this run, as far as these are known.
  AttributeMap attributes_of(const Node& node) const {
    AttributeMap attributes;
    for (const Argument& argument : node.arguments) {
      const auto* attribute = std::get_if<Attribute>(&argument.value);
      if (attribute == nullptr) continue;
      auto number = argument.numbers.begin();
      attributes.set(argument.name, with_values(*attribute, [&](const ValueRef& ref) -> Attribute {
                       const at::Tensor& value = values_[*number++];
                       return value.defined() ? number_of(value) : ref;
                     }));
    }
    return attributes;
  }

  // Keeps only those values in memory that are read later.
  void find_last_uses() {
    read_last_by_.resize(program_.nodes.size());
    for (ValueId id = 0; id < program_.values.size(); ++id) {
      const Value& value = program_[id];
      if (!value.readers.empty()) {
        read_last_by_[value.readers.back()].push_back(id);
      } else if (value.producer) {
        read_last_by_[*value.producer].push_back(id);
      }
    }
  }

  // A value of the run, or a weight that it does not change.
  at::Tensor tensor_of(ValueId value) const {
    if (values_[value].defined()) return values_[value];
    if (weights_[value].defined()) return weights_[value];
    throw ExecutionError("the graph has no value for '" + program_[value].name + "'");
  }

  const SplitModel& model_;
  const GroupedGraph grouped_;
  const Program& program_;
  std::vector<bool> is_compared_;
  NodeRun run_;
  // By ValueId: those of the run that are still read, and weights that it does not write to.
  std::vector<at::Tensor> values_;
  std::vector<at::Tensor> weights_;
  // By node.
  std::vector<std::vector<ValueId>> read_last_by_;
};

CaseOccurrence occurrence_of(const Node& node, const SplitModel& model) {
  const auto source = model.source_lines.find(node.name);
  return {.model = model.name,
          .node = node.name,
          .module = node.origin.module,
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

void Splitter::name_case(SuiteCase& suite_case) {
  CaseInfo& info = suite_case.info;
  info.category = kSplitCategory;
  const std::string name = info.name;
  // No shape has a hyphen, so the name is unique.
  for (size_t number = 2; !names_.insert(info.name).second; ++number) {
    info.name = fmt::format("{}-{}", name, number);
  }
  Program named = *suite_case.content.program;
  named.model_name = info.name;
  suite_case.content = suite_case.content.with(std::move(named));
}

std::string Splitter::add(const SplitModel& model, const CaseSink& sink) {
  if (!model.groups.empty()) grouped(model, model.groups);
  const ComputablePart part = computable_part(*model.content.program);
  Program program = without_uncomputable(*model.content.program, part);
  // Recorded, because groups change the order of nodes.
  const std::vector<std::string> modules = module_paths(program);
  for (size_t i = 0; i < modules.size(); ++i) program.nodes[i].origin.module = modules[i];
  SplitModel computable = model;
  computable.content = model.content.with(std::move(program));
  ModelSplit split(computable);
  std::string left_out = part.left_out();
  size_t num_dependent_groups = 0;
  bool has_case = false;
  for (const NodeSpan& call : split.calls()) {
    const std::string& name = call.group.empty() ? split.nodes_of(call).front().name : call.group;
    const bool is_wanted = model.only.empty() || model.only.contains(name);
    const bool is_case = is_wanted && split.is_case(call);
    has_case = has_case || is_case;
    std::string key = is_case ? split.key_of(call) : "";
    if (is_case && model.keeps_equal) key += model.name + "." + split.nodes_of(call).back().name;
    auto known = by_key_.find(key);
    if (is_case && known == by_key_.end()) {
      // A call that fails is not a case.
      std::string problem;
      SuiteCase suite_case = split.run_case(call, problem);
      if (problem.empty()) {
        name_case(suite_case);
        known = by_key_.emplace(key, cases_.size()).first;
        cases_.push_back(suite_case.info);
        sink(suite_case);
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
