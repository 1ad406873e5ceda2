#include "torch_ir/ir/validate.h"

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
#include "torch_ir/ir/builtin_operators.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/graph_values.h"
#include "torch_ir/ir/ivalue.h"
#include "torch_ir/ir/sym_expr.h"
#include "torch_ir/ir/value_checks.h"

namespace torch_ir {
namespace {

Attribute example_of(const TensorMeta& meta) {
  if (meta.dtype == "bool") return false;
  if (meta.dtype == "float64") return 0.0;
  return 0;
}

bool returns_list(const c10::FunctionSchema& schema) {
  return std::ranges::any_of(schema.returns(), [](const c10::Argument& value) {
    return value.type()->kind() == c10::TypeKind::ListType;
  });
}

// Finds the problems of one graph: of the IR's, which also has placeholders and weights, or of a
// control flow node's.
class GraphValidator {
 public:
  GraphValidator(const Graph& graph, GraphChecks checks, ProblemReport report)
      : graph_(graph), checks_(checks), report_(std::move(report)) {}

  void check() {
    check_inputs();
    check_nodes_and_outputs();
  }

  void check(const IR& ir) {
    check_inputs();
    check_weights(ir);
    check_placeholders(ir);
    check_constants(ir);
    check_ranges(ir);
    check_nodes_and_outputs();
  }

 private:
  // The current meaning of a name. There are many, so this is small.
  struct Name {
    // The declaration of the value; null if it is not to be compared.
    const TensorMeta* declaration = nullptr;
    // The values that `producer_node` can refer to: a node's outputs, or a graph input.
    const TensorMeta* outputs = nullptr;
    uint32_t num_outputs = 0;
    bool is_value = false;
    bool is_producer = false;
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

  void check_inputs() {
    for (const TensorMeta& input : graph_.graph_inputs) {
      check_meta(input, "graph input ", report_);
      check_input_sizes(input, report_);
      refuse_strides(input);
      if (!declare(input.name, &input)) {
        report_("graph input '{}' has the same name as another graph input", input.name);
      }
      add_producer(input.name, &input, 1);
    }
  }

  void check_nodes_and_outputs() {
    names_.reserve(names_.size() + graph_.nodes.size());
    for (size_t i = 0; i < graph_.nodes.size(); ++i) check_node(i);
    for (const TensorMeta& output : graph_.graph_outputs) check_output(output);
    check_constant_outputs();
  }

  // Makes `name` a value that nodes can use, declared as `meta` says (null: not to be compared).
  // Returns false if the name is taken.
  bool declare(std::string_view name, const TensorMeta* meta) {
    Name& entry = names_[name];
    if (entry.is_value) return false;
    entry.is_value = true;
    entry.declaration = meta;
    return true;
  }

  void check_weights(const IR& ir) {
    for (const TensorMeta& weight : ir.weights) {
      check_meta(weight, "weight ", report_);
      if (is_dynamic(weight) || weight.is_scalar) {
        report_("weight '{}' must be a tensor whose sizes are known", weight.name);
      }
      const auto is_negative = [](int64_t stride) { return stride < 0; };
      if (!weight.strides.empty() && (weight.strides.size() != weight.shape.size() ||
                                      std::ranges::any_of(weight.strides, is_negative))) {
        report_("weight '{}' has the strides [{}], expected {} that are not negative", weight.name,
                fmt::join(weight.strides, ", "), weight.shape.size());
      }
      if (!weights_.emplace(weight.name, &weight).second) {
        report_("weight '{}' has the same name as another weight", weight.name);
      }
    }
  }

  void check_placeholders(const IR& ir) {
    for (const auto& item : ir.weight_name_mapping) {
      const auto weight = weights_.find(item.value());
      if (weight == weights_.end()) {
        report_("weight_name_mapping: placeholder '{}' stands for the unknown weight '{}'",
                item.key(), item.value());
        // Declare it anyway, so that its uses are not reported too.
        declare(item.key(), nullptr);
      } else if (!declare(item.key(), weight->second)) {
        report_("weight_name_mapping: placeholder '{}' has the same name as a graph input",
                item.key());
      }
    }
  }

  void check_constants(const IR& ir) {
    for (const auto& item : ir.constants) {
      const auto weight = weights_.find(item.key());
      if (weight == weights_.end()) {
        report_("constant '{}' is not among the weights", item.key());
        continue;
      }
      if (!item.value().defined()) {
        report_("constant '{}' is undefined", item.key());
        continue;
      }
      TensorMeta constant;
      constant.shape = item.value().sizes().vec();
      constant.dtype = dtype_name(item.value().scalar_type());
      if (const auto what = disagreement(constant, *weight->second)) {
        report_("constant '{}' {} among the weights", item.key(), *what);
      }
    }
  }

  void check_ranges(const IR& ir) {
    for (const SymbolRange& range : ir.range_constraints) {
      try {
        SymExpr::parse(range.expression);
      } catch (const ValidationError& error) {
        report_("range_constraints: {}", error.what());
      }
      if (range.min && range.max && *range.min > *range.max) {
        report_("range_constraints: empty range for '{}': at least {} and at most {}",
                range.expression, *range.min, *range.max);
      }
    }
  }

  const Name* find_name(std::string_view name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? nullptr : &found->second;
  }

  // Returns false if the name is taken.
  bool add_producer(std::string_view name, const TensorMeta* outputs, size_t num_outputs) {
    Name& entry = names_[name];
    if (entry.is_producer) return false;
    entry.is_producer = true;
    entry.outputs = outputs;
    entry.num_outputs = static_cast<uint32_t>(num_outputs);
    return true;
  }

  std::string text(const Use& use) {
    return use.node == nullptr
               ? fmt::format("graph output '{}'", use.tensor.name)
               : fmt::format("node '{}': input '{}'", use.node->name, use.tensor.name);
  }

  void check_output(const TensorMeta& output) {
    check_use({output, nullptr});
    if (output.mutates.empty()) return;
    const Name* mutated = find_name(output.mutates);
    if (mutated == nullptr || !mutated->is_value) {
      report_(
          "graph output '{}' is the new value of '{}', which is neither a graph input nor a "
          "placeholder",
          output.name, output.mutates);
    }
  }

  void check_constant_outputs() {
    const auto num_outputs =
        static_cast<int64_t>(graph_.graph_outputs.size() + graph_.constant_outputs.size());
    int64_t least = 0;
    for (const ConstantOutput& output : graph_.constant_outputs) {
      if (output.index < least || output.index >= num_outputs) {
        report_(
            "constant_outputs: invalid index {}: there are {} outputs, and each index must be "
            "listed once, in order",
            output.index, num_outputs);
        return;
      }
      least = output.index + 1;
    }
  }

  void check_references(const OpNode& node) {
    for (const auto& [name, attribute] : node.attrs) {
      for (const std::string& ref : value_refs(attribute)) {
        const Name* value = find_name(ref);
        if (value == nullptr || !value->is_value) {
          report_("node '{}': attribute '{}' refers to '{}', which {}", node.name, name, ref,
                  maker_of(ref) != nullptr ? "a later node makes" : "is not a value of the graph");
        } else if (value->declaration == nullptr || !value->declaration->is_scalar) {
          report_("node '{}': attribute '{}' refers to '{}', which is a tensor, not a number",
                  node.name, name, ref);
        }
      }
    }
  }

  void check_graphs(const OpNode& node) {
    const size_t expected = num_graphs_of(node.op_type);
    if (node.graphs.size() != expected) {
      report_("node '{}' ({}): wrong number of graphs: {}, expected {}", node.name, node.op_type,
              node.graphs.size(), expected);
      return;
    }
    for (size_t i = 0; i < node.graphs.size(); ++i) {
      GraphValidator(node.graphs[i], checks_,
                     report_.inside(fmt::format("node '{}', graph {}: ", node.name, i)))
          .check();
    }
    check_control_flow(node, report_);
  }

  // All values and nodes, also later ones: distinguishes values that are used too early from values
  // that no node makes.
  const GraphValues& all() {
    if (!all_) all_.emplace(graph_);
    return *all_;
  }

  // The first node with an output of that name, also a later one, or null.
  const OpNode* maker_of(std::string_view output) {
    const GraphValues::Value* value = all().find(output);
    return value == nullptr || !value->maker ? nullptr : &graph_.nodes[*value->maker];
  }

  void check_node(size_t index) {
    const OpNode& node = graph_.nodes[index];
    if (node.name.empty()) report_("node {} has no name", index);
    for (const TensorMeta& input : node.inputs) check_use({input, &node});
    check_references(node);
    check_graphs(node);
    for (const TensorMeta& output : node.outputs) {
      check_meta(output, fmt::format("node '{}': output ", node.name), report_);
      refuse_strides(output);
      if (!declare(output.name, &output)) {
        report_("node '{}': output '{}' has the same name as another value", node.name,
                output.name);
      }
    }
    if (!add_producer(node.name, node.outputs.data(), node.outputs.size())) {
      report_("node '{}' has the same name as {}", node.name,
              all().find_node(node.name) == &node ? "a graph input" : "another node");
    }
    check_operator(node);
  }

  void refuse_strides(const TensorMeta& value) {
    if (!value.strides.empty()) report_("'{}' has strides, which only weights have", value.name);
  }

  void check_use(const Use& use) {
    refuse_strides(use.tensor);
    const TensorMeta* declaration = use.tensor.producer_node ? find_produced(use) : find_named(use);
    if (declaration == nullptr) return;
    if (const auto problem = disagreement(use.tensor, *declaration)) {
      report_("{} {}", text(use), *problem);
    }
  }

  // Reports a missing output and returns null.
  const TensorMeta* find_produced(const Use& use) {
    const std::string& name = *use.tensor.producer_node;
    const Name* producer = find_name(name);
    if (producer == nullptr || !producer->is_producer) {
      if (all().find_node(name) != nullptr) {
        report_("{} is used before node '{}' makes it", text(use), name);
      } else {
        report_("{} names the unknown producer '{}': no node or graph input has this name",
                text(use), name);
      }
      return nullptr;
    }
    const int64_t index = use.tensor.producer_output_idx;
    if (index < 0 || static_cast<size_t>(index) >= producer->num_outputs) {
      report_(
          "{} refers to output {} of '{}', which has {} output{} (producer_output_idx counts from "
          "0)",
          text(use), index, name, producer->num_outputs, producer->num_outputs == 1 ? "" : "s");
      return nullptr;
    }
    const TensorMeta& output = producer->outputs[index];
    if (output.name != use.tensor.name) {
      report_("{} refers to output {} of '{}', which is named '{}'", text(use), index, name,
              output.name);
      return nullptr;
    }
    return &output;
  }

  // Reports a missing value and returns null; also null if its declaration is unknown.
  const TensorMeta* find_named(const Use& use) {
    const std::string& name = use.tensor.name;
    if (const Name* value = find_name(name); value != nullptr && value->is_value) {
      return value->declaration;
    }
    if (const auto weight = weights_.find(name); weight != weights_.end()) return weight->second;
    if (use.node == nullptr) {
      report_("{} is unknown: no node, graph input or weight has this name", text(use));
    } else if (const OpNode* maker = maker_of(name)) {
      report_("{} is used before node '{}' makes it", text(use), maker->name);
    } else {
      report_("{} has no producer_node and is not in weight_name_mapping", text(use));
    }
    return nullptr;
  }

  void check_operator(const OpNode& node) {
    if (node.op_type.empty()) report_("node '{}' has no op_type", node.name);
    if (node.op_type == kGetItem) return check_getitem(node, report_);
    Operator* op = checks_ == GraphChecks::kAll ? find_operator(node.op_type) : nullptr;
    if (op == nullptr) return;
    try {
      check_arguments(node, *op);
    } catch (const ValidationError& error) {
      report_("{}", error.what());
    }
    check_num_outputs(node, *op);
  }

  void check_arguments(const OpNode& node, Operator& op) {
    const std::vector<BoundArgument>& bound = op.binder.bind(node);
    for (size_t i = 0; i < bound.size(); ++i) {
      const auto* attribute = std::get_if<AttributeArgument>(&bound[i]);
      if (attribute == nullptr) continue;
      try {
        const Attribute value = with_values(*attribute->value, [&](const ValueRef& ref) {
          const Name* known = find_name(ref.name);
          const bool is_declared = known != nullptr && known->declaration != nullptr;
          return is_declared ? example_of(*known->declaration) : Attribute(0);
        });
        to_ivalue(value, op.schema.arguments()[i]);
      } catch (const ValidationError& error) {
        report_("node '{}' ({}): {}", node.name, node.op_type, error.what());
      }
    }
  }

  // An operator that returns a list can have any number of outputs.
  void check_num_outputs(const OpNode& node, const Operator& op) {
    const size_t num_returns = op.schema.returns().size();
    if (!returns_list(op.schema) && node.outputs.size() > num_returns) {
      report_("node '{}' ({}) has {} outputs, but its operator returns {}", node.name, node.op_type,
              node.outputs.size(), num_returns);
    }
  }

  Operator* find_operator(const std::string& op_type) {
    const auto [entry, is_new] = operators_.try_emplace(op_type);
    if (is_new) {
      if (const c10::FunctionSchema* schema = find_schema(op_type)) {
        entry->second.emplace(*schema, OperatorBinder(*schema));
      }
    }
    return entry->second ? &*entry->second : nullptr;
  }

  const Graph& graph_;
  const GraphChecks checks_;
  ProblemReport report_;
  // By their own names, which uses fall back to.
  std::unordered_map<std::string_view, const TensorMeta*> weights_;
  ska::flat_hash_map<std::string_view, Name> names_;
  // By op_type; empty for operators that this process does not know.
  std::unordered_map<std::string_view, std::optional<Operator>> operators_;
  // Set when a problem needs it.
  std::optional<GraphValues> all_;
};

}  // namespace

std::vector<std::string> find_problems(const IR& ir, GraphChecks checks) {
  std::vector<std::string> problems;
  GraphValidator(ir, checks, ProblemReport("", problems)).check(ir);
  return problems;
}

void validate_ir(const IR& ir) {
  const std::vector<std::string> problems = find_problems(ir);
  if (problems.empty()) return;
  throw ValidationError(fmt::format("the IR '{}' is not well formed:\n  {}",
                                    printable(ir.model_name), fmt::join(problems, "\n  ")));
}

}  // namespace torch_ir
