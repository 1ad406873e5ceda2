#include "torch_ir/ir/resolve.h"

#include <ATen/core/function_schema.h>
#include <c10/util/flat_hash_map.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/ivalue.h"
#include "torch_ir/ir/value_checks.h"

namespace torch_ir {
namespace {

// Resolves one graph: the IR's, which also has placeholders and weights, or a control flow node's.
class GraphResolver {
 public:
  GraphResolver(const IRGraph& document, GraphChecks checks, ProblemReport report)
      : document_(document), checks_(checks), report_(std::move(report)) {}

  // The result is a program only if nothing was reported.
  Graph resolve() {
    for (const TensorMeta& input : document_.graph_inputs) refuse_strides(input, report_);
    add_inputs();
    return finish();
  }

  Program resolve(const IR& ir) {
    add_inputs();
    add_weights(ir);
    add_placeholders(ir);
    check_ties(ir);
    check_constants(ir);
    check_ranges(ir.range_constraints, report_);
    Program program;
    static_cast<Graph&>(program) = finish(ir.weights);
    program.model_name = ir.model_name;
    program.torch_version = ir.pytorch_version;
    for (size_t i = 0; i < ir.graph_outputs.size(); ++i) {
      const auto mutated = find_value(ir.graph_outputs[i].mutates);
      if (mutated) program.mutations.push_back({i, *mutated});
    }
    for (const std::string& name : ir.state) add_state(name, program);
    program.tied_weights = ir.tied_weights;
    program.constant_inputs = ir.constant_inputs;
    program.range_constraints = ir.range_constraints;
    program.guards = ir.guards;
    program.constants = ir.constants;
    return program;
  }

 private:
  // The current meaning of a name. There are many, so this is small.
  struct Name {
    std::optional<ValueId> value;
    // The values that `producer_node` can refer to: a node's outputs, or a graph input.
    ValueId first_output = 0;
    uint32_t num_outputs = 0;
    bool is_producer = false;
  };
  struct Weight {
    const TensorMeta& meta;
    bool has_placeholder = false;
  };
  struct Operator {
    const c10::FunctionSchema& schema;
    OperatorBinder binder;
  };
  // A use of a value: an input of `node`, or, if that is null, an output of the graph.
  struct Use {
    const TensorMeta& tensor;
    const OpNode* node;
  };

  ValueId add_value(const TensorMeta& meta, const std::string& name) {
    declarations_.push_back(&meta);
    return graph_.add_value({.shape = meta.shape,
                             .dtype = find_dtype(meta.dtype).value_or(c10::kFloat),
                             .symbolic_shape = meta.symbolic_shape,
                             .is_scalar = meta.is_scalar,
                             .expression = meta.expression,
                             .name = name,
                             .strides = meta.strides,
                             .requires_grad = meta.requires_grad});
  }

  // Makes `name` mean `value`. Returns false if the name is taken.
  bool declare(std::string_view name, ValueId value) {
    Name& entry = names_[name];
    if (entry.value) return false;
    entry.value = value;
    return true;
  }

  void add_inputs() {
    for (const TensorMeta& input : document_.graph_inputs) {
      check_meta(input, "graph input ", report_);
      check_input_sizes(input, report_);
      check_strides(input, "graph input", report_);
      refuse_requires_grad(input, report_);
      const ValueId value = add_value(input, input.name);
      user_inputs_.push_back({InputKind::kUserInput, value});
      if (!declare(input.name, value)) {
        report_("graph input '{}' has the same name as another graph input", input.name);
      }
      add_producer(input.name, value, 1);
    }
  }

  Graph finish(const std::vector<TensorMeta>& weights = {}) {
    names_.reserve(names_.size() + document_.nodes.size());
    graph_.nodes.reserve(document_.nodes.size());
    for (size_t i = 0; i < document_.nodes.size(); ++i) add_node(i);
    for (const TensorMeta& output : document_.graph_outputs) add_output(output);
    check_constant_outputs(document_, report_);
    graph_.constant_outputs = document_.constant_outputs;
    for (const TensorMeta& weight : weights) {
      if (!find_weight(weight.name)->has_placeholder) add_weight_value(weight, weight.name);
    }
    std::ranges::move(user_inputs_, std::back_inserter(graph_.inputs));
    return std::move(graph_);
  }

  void add_weights(const IR& ir) {
    for (const TensorMeta& weight : ir.weights) {
      check_meta(weight, "weight ", report_);
      if (is_dynamic(weight) || weight.is_scalar) {
        report_("weight '{}' must be a tensor whose sizes are known", weight.name);
      }
      check_strides(weight, "weight", report_);
      if (!weights_.try_emplace(weight.name, Weight{weight}).second) {
        report_("weight '{}' has the same name as another weight", weight.name);
      }
    }
  }

  ValueId add_weight_value(const TensorMeta& weight, const std::string& name) {
    const ValueId value = add_value(weight, name);
    graph_.inputs.push_back({InputKind::kParameter, value, weight.name});
    return value;
  }

  Weight* find_weight(std::string_view name) {
    const auto found = weights_.find(name);
    return found == weights_.end() ? nullptr : &found->second;
  }

  void add_placeholders(const IR& ir) {
    for (const auto& item : ir.weight_name_mapping) {
      Weight* weight = find_weight(item.value());
      if (weight == nullptr) {
        report_("weight_name_mapping: placeholder '{}' stands for the unknown weight '{}'",
                item.key(), item.value());
        // Declare it anyway, so that its uses are not reported too.
        const ValueId unknown = graph_.add_value({.shape = {}, .dtype = c10::kFloat});
        declarations_.push_back(nullptr);
        declare(item.key(), unknown);
        continue;
      }
      weight->has_placeholder = true;
      if (!declare(item.key(), add_weight_value(weight->meta, item.key()))) {
        report_("weight_name_mapping: placeholder '{}' has the same name as a graph input",
                item.key());
      }
    }
  }

  void check_ties(const IR& ir) {
    for (const std::vector<std::string>& names : ir.tied_weights) {
      const TensorMeta* first = nullptr;
      for (const std::string& name : names) {
        const Weight* weight = find_weight(name);
        if (weight == nullptr) continue;
        if (first == nullptr) first = &weight->meta;
        if (const auto what = disagreement(weight->meta, *first)) {
          report_("weight '{}' {} as '{}', with which it is tied", name, *what, first->name);
        }
      }
    }
  }

  void check_constants(const IR& ir) {
    for (const auto& item : ir.constants) {
      const Weight* weight = find_weight(item.key());
      if (weight == nullptr) {
        report_("constant '{}' is not among the weights", item.key());
      } else if (!item.value().defined()) {
        report_("constant '{}' is undefined", item.key());
      } else if (const auto what = disagreement({.name = item.key(),
                                                 .shape = item.value().sizes().vec(),
                                                 .dtype = dtype_name(item.value().scalar_type())},
                                                weight->meta)) {
        report_("constant '{}' {} among the weights", item.key(), *what);
      }
    }
  }

  const Name* find_name(std::string_view name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? nullptr : &found->second;
  }

  std::optional<ValueId> find_value(std::string_view name) const {
    const Name* known = find_name(name);
    return known == nullptr ? std::nullopt : known->value;
  }

  // Returns false if the name is taken.
  bool add_producer(std::string_view name, ValueId first_output, size_t num_outputs) {
    Name& entry = names_[name];
    if (entry.is_producer) return false;
    entry.is_producer = true;
    entry.first_output = first_output;
    entry.num_outputs = static_cast<uint32_t>(num_outputs);
    return true;
  }

  std::string text(const Use& use) {
    return use.node == nullptr
               ? fmt::format("graph output '{}'", use.tensor.name)
               : fmt::format("node '{}': input '{}'", use.node->name, use.tensor.name);
  }

  void add_output(const TensorMeta& output) {
    graph_.outputs.push_back(find_use({output, nullptr}));
    if (!output.mutates.empty() && !find_value(output.mutates)) {
      report_(
          "graph output '{}' is the new value of '{}', which is neither a graph input nor a "
          "placeholder",
          output.name, output.mutates);
    }
  }

  void add_state(const std::string& name, Program& program) {
    const auto value = find_value(name);
    const auto input = std::ranges::find(program.inputs, value, &GraphInput::value);
    if (input == program.inputs.end()) {
      report_("state '{}' is neither a graph input nor a placeholder", name);
    } else if (std::ranges::find(program.mutations, input->value, &Mutation::placeholder) !=
               program.mutations.end()) {
      report_("state '{}' is listed twice, or is what an output mutates", name);
    } else {
      program.mutations.push_back({program.outputs.size(), input->value, /*in_place=*/true});
      program.outputs.push_back(input->value);
    }
  }

  // Null for a name that is not a value, or whose declaration is unknown.
  const TensorMeta* declaration_of(std::string_view name) const {
    const auto value = find_value(name);
    return value ? declarations_[*value] : nullptr;
  }

  void check_references(const OpNode& node) {
    for (const auto& [name, attribute] : node.attrs) {
      for (const std::string& ref : value_refs(attribute)) {
        if (!find_value(ref)) {
          report_("node '{}': attribute '{}' refers to '{}', which {}", node.name, name, ref,
                  maker_of(ref) != nullptr ? "a later node makes" : "is not a value of the graph");
        } else if (declaration_of(ref) == nullptr || !declaration_of(ref)->is_scalar) {
          report_("node '{}': attribute '{}' refers to '{}', which is a tensor, not a number",
                  node.name, name, ref);
        }
      }
    }
  }

  std::vector<Graph> resolve_graphs(const OpNode& node) {
    std::vector<Graph> graphs;
    if (!check_num_graphs(node, report_)) return graphs;
    for (size_t i = 0; i < node.graphs.size(); ++i) {
      const ProblemReport inside =
          report_.inside(fmt::format("node '{}', graph {}: ", node.name, i));
      graphs.push_back(GraphResolver(node.graphs[i], checks_, inside).resolve());
    }
    check_control_flow(node, report_);
    return graphs;
  }

  // The first node with an output of that name, also a later one, or null.
  const OpNode* maker_of(std::string_view output) const {
    const auto found = std::ranges::find_if(document_.nodes, [&](const OpNode& node) {
      return std::ranges::find(node.outputs, output, &TensorMeta::name) != node.outputs.end();
    });
    return found == document_.nodes.end() ? nullptr : &*found;
  }

  // Also a later one.
  const OpNode* find_node(std::string_view name) const {
    const auto found = std::ranges::find(document_.nodes, name, &OpNode::name);
    return found == document_.nodes.end() ? nullptr : &*found;
  }

  void add_node(size_t index) {
    const OpNode& node = document_.nodes[index];
    Node& resolved = graph_.nodes.emplace_back();
    resolved.name = node.name;
    resolved.target = node.op_type;
    resolved.origin.module = node.module;
    if (node.name.empty()) report_("node {} has no name", index);
    std::vector<ValueId> inputs;
    for (const TensorMeta& input : node.inputs) inputs.push_back(find_use({input, &node}));
    check_references(node);
    resolved.graphs = resolve_graphs(node);
    const auto first_output = static_cast<ValueId>(graph_.values.size());
    for (const TensorMeta& output : node.outputs) {
      check_meta(output, fmt::format("node '{}': output ", node.name), report_);
      refuse_strides(output, report_);
      refuse_requires_grad(output, report_);
      resolved.outputs.push_back(add_value(output, output.name));
      if (!declare(output.name, resolved.outputs.back())) {
        report_("node '{}': output '{}' has the same name as another value", node.name,
                output.name);
      }
    }
    if (!add_producer(node.name, first_output, node.outputs.size())) {
      report_("node '{}' has the same name as {}", node.name,
              find_node(node.name) == &node ? "a graph input" : "another node");
    }
    resolved.arguments = resolve_arguments(node, inputs);
  }

  // Any value if there is a problem.
  ValueId find_use(const Use& use) {
    refuse_strides(use.tensor, report_);
    refuse_requires_grad(use.tensor, report_);
    const auto value = use.tensor.producer_node ? find_produced(use) : find_named(use);
    if (!value || declarations_[*value] == nullptr) return 0;
    if (const auto problem = disagreement(use.tensor, *declarations_[*value])) {
      report_("{} {}", text(use), *problem);
    }
    return *value;
  }

  // Reports a missing output.
  std::optional<ValueId> find_produced(const Use& use) {
    const std::string& name = *use.tensor.producer_node;
    const Name* producer = find_name(name);
    if (producer == nullptr || !producer->is_producer) {
      if (find_node(name) != nullptr) {
        report_("{} is used before node '{}' makes it", text(use), name);
      } else {
        report_("{} names the unknown producer '{}': no node or graph input has this name",
                text(use), name);
      }
      return std::nullopt;
    }
    const int64_t index = use.tensor.producer_output_idx;
    if (index < 0 || static_cast<size_t>(index) >= producer->num_outputs) {
      report_(
          "{} refers to output {} of '{}', which has {} output{} (producer_output_idx counts from "
          "0)",
          text(use), index, name, producer->num_outputs, producer->num_outputs == 1 ? "" : "s");
      return std::nullopt;
    }
    const ValueId value = producer->first_output + static_cast<ValueId>(index);
    if (graph_[value].name != use.tensor.name) {
      report_("{} refers to output {} of '{}', which is named '{}'", text(use), index, name,
              graph_[value].name);
      return std::nullopt;
    }
    return value;
  }

  // Reports a missing value.
  std::optional<ValueId> find_named(const Use& use) {
    const std::string& name = use.tensor.name;
    if (const auto known = find_value(name)) return known;
    if (Weight* weight = find_weight(name)) {
      weight->has_placeholder = true;
      const ValueId value = add_weight_value(weight->meta, name);
      declare(name, value);
      return value;
    }
    if (use.node == nullptr) {
      report_("{} is unknown: no node, graph input or weight has this name", text(use));
    } else if (const OpNode* maker = maker_of(name)) {
      report_("{} is used before node '{}' makes it", text(use), maker->name);
    } else {
      report_("{} has no producer_node and is not in weight_name_mapping", text(use));
    }
    return std::nullopt;
  }

  std::vector<Argument> resolve_arguments(const OpNode& node, const std::vector<ValueId>& inputs) {
    if (node.op_type.empty()) report_("node '{}' has no op_type", node.name);
    if (node.op_type == kGetItem) check_getitem(node, report_);
    const bool is_opaque = std::ranges::any_of(node.attrs, [](const AttributeMap::Item& item) {
      return item.second.get_if<Opaque>() != nullptr;
    });
    const bool has_schema = node.op_type != kGetItem && !is_opaque;
    Operator* op = has_schema ? find_operator(node.op_type) : nullptr;
    if (op == nullptr) return unnamed_arguments(node, inputs);
    std::vector<Argument> arguments;
    try {
      arguments = op->binder.bind(node, inputs);
      if (checks_ == GraphChecks::kAll) check_attributes(node, arguments, op->schema);
    } catch (const ValidationError& error) {
      if (checks_ == GraphChecks::kAll) report_("{}", error.what());
      arguments = unnamed_arguments(node, inputs);
    }
    if (checks_ == GraphChecks::kAll) check_num_outputs(node, op->schema, report_);
    return arguments;
  }

  static std::vector<Argument> unnamed_arguments(const OpNode& node,
                                                 const std::vector<ValueId>& inputs) {
    std::vector<Argument> arguments;
    for (size_t i = 0; i < inputs.size(); ++i) {
      arguments.push_back({node.inputs[i].arg, inputs[i]});
    }
    for (const auto& [name, value] : node.attrs) arguments.push_back({name, value});
    return arguments;
  }

  void check_attributes(const OpNode& node, const std::vector<Argument>& arguments,
                        const c10::FunctionSchema& schema) {
    const auto example = [&](const ValueRef& ref) -> Attribute {
      const TensorMeta* declared = declaration_of(ref.name);
      if (declared != nullptr && declared->dtype == "bool") return false;
      if (declared != nullptr && declared->dtype == "float64") return 0.0;
      return 0;
    };
    for (const Argument& given : arguments) {
      const auto* attribute = std::get_if<Attribute>(&given.value);
      if (attribute == nullptr) continue;
      const auto index = static_cast<size_t>(*schema.argumentIndexWithName(given.name));
      try {
        to_ivalue(with_values(*attribute, example), schema.arguments()[index]);
      } catch (const ValidationError& error) {
        report_("node '{}' ({}): {}", node.name, node.op_type, error.what());
      }
    }
  }

  Operator* find_operator(const std::string& op_type) {
    const auto [entry, is_new] = operators_.try_emplace(op_type);
    const c10::FunctionSchema* schema = is_new ? find_schema(op_type) : nullptr;
    if (schema != nullptr) entry->second.emplace(*schema, OperatorBinder(*schema));
    return entry->second ? &*entry->second : nullptr;
  }

  const IRGraph& document_;
  const GraphChecks checks_;
  ProblemReport report_;
  Graph graph_;
  std::vector<GraphInput> user_inputs_;
  // By ValueId; null where it is unknown.
  std::vector<const TensorMeta*> declarations_;
  // By their own names, which uses fall back to.
  std::unordered_map<std::string_view, Weight> weights_;
  ska::flat_hash_map<std::string_view, Name> names_;
  // By op_type; empty for operators that this process does not know.
  std::unordered_map<std::string_view, std::optional<Operator>> operators_;
};

}  // namespace

Resolution try_resolve(const IR& ir, GraphChecks checks) {
  Resolution resolution;
  Program program = GraphResolver(ir, checks, ProblemReport("", resolution.problems)).resolve(ir);
  if (!resolution.problems.empty()) return resolution;
  set_uses(program);
  resolution.program = std::move(program);
  return resolution;
}

Program resolve(const IR& ir, GraphChecks checks) {
  Resolution resolution = try_resolve(ir, checks);
  if (resolution.problems.empty()) return std::move(resolution.program);
  throw ValidationError(fmt::format("the IR '{}' is not well formed:\n  {}",
                                    printable(ir.model_name),
                                    fmt::join(resolution.problems, "\n  ")));
}

std::vector<std::string> find_problems(const IR& ir, GraphChecks checks) {
  return try_resolve(ir, checks).problems;
}

void validate_ir(const IR& ir) { resolve(ir); }

}  // namespace torch_ir
