#include "torch_ir/ir/graph_validator.h"

#include <ATen/core/function_schema.h>

#include <algorithm>
#include <variant>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/builtin_operators.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/ivalue.h"
#include "torch_ir/ir/sym_expr.h"

namespace torch_ir {
namespace {

// How the Python package calls the node that takes one output of a node with several.
constexpr std::string_view kGetItem = "<built-in function getitem>";

// What keeps `text` from being an expression; empty when it is one.
std::string expression_problem(const std::string& text) {
  try {
    SymExpr::parse(text);
    return {};
  } catch (const ValidationError& error) {
    return error.what();
  }
}

// What keeps a tensor of this shape and dtype from being made anywhere; empty where nothing does.
// Sizes that are not known, or wrong, count as one.
std::string size_problem(const TensorMeta& meta, c10::ScalarType dtype) {
  if (meta.shape.size() > kMaxTensorDims) {
    return fmt::format("has {} dimensions, more than the {} that a tensor can have",
                       meta.shape.size(), kMaxTensorDims);
  }
  auto num_bytes = static_cast<int64_t>(c10::elementSize(dtype));
  for (const int64_t size : meta.shape) {
    if (__builtin_mul_overflow(num_bytes, std::max<int64_t>(size, 1), &num_bytes) ||
        num_bytes > kMaxTensorBytes) {
      return fmt::format("has shape {}, which needs more than {} bytes", shape_list_text(meta),
                         kMaxTensorBytes);
    }
  }
  return {};
}

bool is_scalar_dtype(const std::string& dtype) {
  return dtype == "int64" || dtype == "float64" || dtype == "bool";
}

// A number as `meta` says, to check types with.
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

bool has_same_shape(const TensorMeta& a, const TensorMeta& b) {
  if (a.shape != b.shape) return false;
  // No text is made for shapes without symbols, which nearly all are.
  return a.symbolic_shape == b.symbolic_shape || shape_list_text(a) == shape_list_text(b);
}

}  // namespace

GraphValidator::Operator::Operator(const c10::FunctionSchema& known)
    : schema(known), binder(known), returns_list(torch_ir::returns_list(known)) {}

std::optional<std::string> disagreement(const TensorMeta& use, const TensorMeta& declaration) {
  if (use.is_scalar != declaration.is_scalar) {
    return fmt::format("is a {}, but is made as a {}", use.is_scalar ? "number" : "tensor",
                       declaration.is_scalar ? "number" : "tensor");
  }
  if (!has_same_shape(use, declaration)) {
    return fmt::format("has shape {}, but is made with shape {}", shape_list_text(use),
                       shape_list_text(declaration));
  }
  if (use.dtype != declaration.dtype) {
    return fmt::format("has dtype {}, but is made with dtype {}", use.dtype, declaration.dtype);
  }
  return std::nullopt;
}

void GraphValidator::add_problem(const std::string& problem) {
  constexpr size_t kMaxSize = 1000;
  problems_.push_back(printable(prefix_ + problem, kMaxSize));
}

void GraphValidator::check_meta(const TensorMeta& meta, c10::function_ref<std::string()> what) {
  if (meta.name.empty()) report("{} has no name", what());
  if (!meta.symbolic_shape.empty() && meta.symbolic_shape.size() != meta.shape.size()) {
    report("{} has {} sizes, but {} symbolic ones", what(), meta.shape.size(),
           meta.symbolic_shape.size());
    return;
  }
  for (size_t i = 0; i < meta.shape.size(); ++i) {
    const bool is_symbolic = !meta.symbolic_shape.empty() && !meta.symbolic_shape[i].empty();
    if (is_symbolic) {
      if (const std::string problem = expression_problem(meta.symbolic_shape[i]);
          !problem.empty()) {
        report("{}: {}", what(), problem);
      }
    } else if (meta.shape[i] < 0) {
      report("{} has a negative size: {}", what(), shape_list_text(meta));
      break;
    }
  }
  const auto dtype = find_dtype(meta.dtype);
  if (!dtype) {
    report("{} has the unknown dtype '{}'", what(), meta.dtype);
  } else if (const std::string problem = size_problem(meta, *dtype); !problem.empty()) {
    report("{} {}", what(), problem);
  }
  if (!meta.is_scalar) return;
  if (!meta.shape.empty())
    report("{} is a number, but has the shape {}", what(), shape_list_text(meta));
  if (!is_scalar_dtype(meta.dtype)) {
    report("{} is a number, but has the dtype {}: numbers are int64, float64 or bool", what(),
           meta.dtype);
  }
}

GraphValidator::Name& GraphValidator::name_entry(std::string_view name) {
  const uint32_t number = name_index_.insert(name);
  if (number == names_.size()) names_.emplace_back();
  return names_[number];
}

const GraphValidator::Name* GraphValidator::find_name(std::string_view name) const {
  const auto number = name_index_.find(name);
  return number ? &names_[*number] : nullptr;
}

bool GraphValidator::declare(std::string_view name, const TensorMeta* meta) {
  Name& entry = name_entry(name);
  if (entry.is_value) return false;
  entry.is_value = true;
  entry.declaration = meta;
  return true;
}

// False when `producer_node` can name another one so.
bool GraphValidator::add_producer(std::string_view name, const TensorMeta* outputs,
                                  size_t num_outputs) {
  Name& entry = name_entry(name);
  if (entry.is_producer) return false;
  entry.is_producer = true;
  entry.outputs = outputs;
  entry.num_outputs = static_cast<uint32_t>(num_outputs);
  return true;
}

bool GraphValidator::declare_weight(const TensorMeta& weight) {
  return weights_.emplace(weight.name, &weight).second;
}

void GraphValidator::check_inputs() {
  for (const TensorMeta& input : graph_.graph_inputs) {
    check_meta(input, [&] { return fmt::format("graph input '{}'", input.name); });
    check_input_sizes(input);
    if (!declare(input.name, &input)) {
      report("graph input '{}' has the name of another graph input", input.name);
    }
    add_producer(input.name, &input, 1);
  }
}

// A run computes the sizes of inputs; those of other values it may not be able to know.
void GraphValidator::check_input_sizes(const TensorMeta& input) {
  for (const std::string& text : input.symbolic_shape) {
    if (text.empty() || !expression_problem(text).empty()) continue;
    const SymExpr expression = SymExpr::parse(text);
    if (const auto function = expression.unknown_function()) {
      report("graph input '{}': the size '{}' uses '{}', which is no known function of integers",
             input.name, text, *function);
    } else if (expression.symbols().empty() && !expression.evaluate({})) {
      report("graph input '{}': the size '{}' has no value", input.name, text);
    }
  }
}

void GraphValidator::check_nodes_and_outputs() {
  const size_t num_names = names_.size() + graph_.nodes.size();
  name_index_.reserve(num_names);
  names_.reserve(num_names);
  for (size_t i = 0; i < graph_.nodes.size(); ++i) check_node(i);
  for (const TensorMeta& output : graph_.graph_outputs) check_output(output);
  check_constant_outputs();
}

std::string GraphValidator::text(const Use& use) {
  return use.node == nullptr
             ? fmt::format("graph output '{}'", use.tensor.name)
             : fmt::format("node '{}': input '{}'", use.node->name, use.tensor.name);
}

void GraphValidator::check_output(const TensorMeta& output) {
  check_use({output, nullptr});
  if (output.mutates.empty()) return;
  const Name* mutated = find_name(output.mutates);
  if (mutated == nullptr || !mutated->is_value) {
    report(
        "graph output '{}' is the new value of '{}', which is neither a graph input nor a "
        "placeholder",
        output.name, output.mutates);
  }
}

void GraphValidator::check_constant_outputs() {
  const auto num_outputs =
      static_cast<int64_t>(graph_.graph_outputs.size() + graph_.constant_outputs.size());
  int64_t least = 0;
  for (const ConstantOutput& output : graph_.constant_outputs) {
    if (output.index < least || output.index >= num_outputs) {
      report(
          "constant_outputs: {} is not the place of an output, of which there are {} (each once, "
          "in order)",
          output.index, num_outputs);
      return;
    }
    least = output.index + 1;
  }
}

// The numbers that attributes refer to.
void GraphValidator::check_references(const OpNode& node) {
  for (const auto& [name, attribute] : node.attrs) {
    for (const std::string& ref : value_refs(attribute)) {
      const Name* value = find_name(ref);
      if (value == nullptr || !value->is_value) {
        report("node '{}': attribute '{}' refers to '{}', which is {}", node.name, name, ref,
               maker_of(ref) != nullptr ? "made later" : "no value of the graph");
      } else if (value->declaration == nullptr || !value->declaration->is_scalar) {
        report("node '{}': attribute '{}' refers to '{}', which is a tensor, not a number",
               node.name, name, ref);
      }
    }
  }
}

void GraphValidator::check_graphs(const OpNode& node) {
  const size_t expected = num_graphs_of(node.op_type);
  if (node.graphs.size() != expected) {
    report("node '{}' ({}) has {} graphs instead of {}", node.name, node.op_type,
           node.graphs.size(), expected);
    return;
  }
  for (size_t i = 0; i < node.graphs.size(); ++i) {
    GraphValidator inner(node.graphs[i],
                         fmt::format("{}node '{}', graph {}: ", prefix_, node.name, i), problems_);
    inner.check_inputs();
    inner.check_nodes_and_outputs();
  }
  if (node.op_type == kCond) check_cond(node);
  if (node.op_type == kWhileLoop) check_while_loop(node);
}

// `given`, from `first` on, has to fit `expected` in number and in what is tensor and what number.
void GraphValidator::check_carried(const OpNode& node, const char* what,
                                   const std::vector<TensorMeta>& given, size_t first,
                                   const std::vector<TensorMeta>& expected) {
  if (given.size() < first || given.size() - first != expected.size()) {
    report("node '{}' ({}): {} takes {} values, but {} are given", node.name, node.op_type, what,
           expected.size(), given.size() - std::min(first, given.size()));
    return;
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const TensorMeta& value = given[first + i];
    if (value.is_scalar != expected[i].is_scalar || value.dtype != expected[i].dtype) {
      report("node '{}' ({}): {} takes {} as '{}', but '{}' is {}", node.name, node.op_type, what,
             expected[i].dtype, expected[i].name, value.name, value.dtype);
    }
  }
}

void GraphValidator::check_cond(const OpNode& node) {
  const size_t first = node.attrs.find("pred") == nullptr ? 1 : 0;
  const char* const names[] = {"the true graph", "the false graph"};
  for (size_t i = 0; i < 2; ++i) {
    const Graph& graph = node.graphs[i];
    check_carried(node, names[i], node.inputs, first, graph.graph_inputs);
    if (graph.graph_outputs.size() != node.outputs.size()) {
      report("node '{}' ({}): {} returns {} values, but the node has {} outputs", node.name,
             node.op_type, names[i], graph.graph_outputs.size(), node.outputs.size());
    }
  }
}

void GraphValidator::check_while_loop(const OpNode& node) {
  const Graph& condition = node.graphs[0];
  const Graph& body = node.graphs[1];
  check_carried(node, "the condition", node.inputs, 0, condition.graph_inputs);
  check_carried(node, "the body", node.inputs, 0, body.graph_inputs);
  if (condition.graph_outputs.size() != 1 || condition.graph_outputs[0].dtype != "bool") {
    report("node '{}' ({}): the condition must return one bool", node.name, node.op_type);
  }
  if (body.graph_outputs.size() != node.outputs.size()) {
    report("node '{}' ({}): the body returns {} values, but the node has {} outputs", node.name,
           node.op_type, body.graph_outputs.size(), node.outputs.size());
  }
  if (body.graph_outputs.size() > node.inputs.size()) {
    report("node '{}' ({}): the body returns {} values, but the node has only {} inputs", node.name,
           node.op_type, body.graph_outputs.size(), node.inputs.size());
  }
}

// The first node called `name`, wherever it is, or null.
const OpNode* GraphValidator::node_called(std::string_view name) {
  index_nodes();
  const auto node = node_names_.find(name);
  return node == node_names_.end() ? nullptr : node->second;
}

// The first node with an output of that name, wherever it is, or null.
const OpNode* GraphValidator::maker_of(std::string_view output) {
  index_nodes();
  const auto node = maker_of_output_.find(output);
  return node == maker_of_output_.end() ? nullptr : node->second;
}

// So that a value that is used too early can be told from one that nobody makes.
void GraphValidator::index_nodes() {
  if (is_indexed_) return;
  is_indexed_ = true;
  for (const OpNode& node : graph_.nodes) {
    node_names_.emplace(node.name, &node);
    for (const TensorMeta& output : node.outputs) maker_of_output_.emplace(output.name, &node);
  }
}

void GraphValidator::check_node(size_t index) {
  const OpNode& node = graph_.nodes[index];
  if (node.name.empty()) report("node {} has no name", index);
  for (const TensorMeta& input : node.inputs) check_use({input, &node});
  check_references(node);
  check_graphs(node);
  for (const TensorMeta& output : node.outputs) {
    check_meta(output,
               [&] { return fmt::format("node '{}': output '{}'", node.name, output.name); });
    if (!declare(output.name, &output)) {
      report("node '{}': output '{}' has the name of another value", node.name, output.name);
    }
  }
  if (!add_producer(node.name, node.outputs.data(), node.outputs.size())) {
    report("node '{}' has the name of {}", node.name,
           node_called(node.name) == &node ? "a graph input" : "another node");
  }
  check_operator(node);
}

void GraphValidator::check_use(const Use& use) {
  const TensorMeta* declaration = use.tensor.producer_node ? find_produced(use) : find_named(use);
  if (declaration == nullptr) return;
  if (const auto problem = disagreement(use.tensor, *declaration)) {
    report("{} {}", text(use), *problem);
  }
}

// Null, after a report, when there is no such output.
const TensorMeta* GraphValidator::find_produced(const Use& use) {
  const std::string& name = *use.tensor.producer_node;
  const Name* producer = find_name(name);
  if (producer == nullptr || !producer->is_producer) {
    if (node_called(name) != nullptr) {
      report("{} is used before node '{}' makes it", text(use), name);
    } else {
      report("{} names the producer '{}', which is neither a node nor a graph input", text(use),
             name);
    }
    return nullptr;
  }
  const int64_t index = use.tensor.producer_output_idx;
  if (index < 0 || static_cast<size_t>(index) >= producer->num_outputs) {
    report("{} is output {} of '{}', which has {} (producer_output_idx counts from 0)", text(use),
           index, name, producer->num_outputs);
    return nullptr;
  }
  const TensorMeta& output = producer->outputs[index];
  if (output.name != use.tensor.name) {
    report("{} is output {} of '{}', which is called '{}'", text(use), index, name, output.name);
    return nullptr;
  }
  return &output;
}

// Null, after a report unless it was reported before, when there is no such value.
const TensorMeta* GraphValidator::find_named(const Use& use) {
  const std::string& name = use.tensor.name;
  if (const Name* value = find_name(name); value != nullptr && value->is_value) {
    return value->declaration;
  }
  if (const auto weight = weights_.find(name); weight != weights_.end()) return weight->second;
  if (use.node == nullptr) {
    report("{} is made by no node, and is neither a graph input nor a weight", text(use));
  } else if (const OpNode* maker = maker_of(name)) {
    report("{} is used before node '{}' makes it", text(use), maker->name);
  } else {
    report("{} has no producer_node and is not in weight_name_mapping", text(use));
  }
  return nullptr;
}

void GraphValidator::check_operator(const OpNode& node) {
  if (node.op_type.empty()) report("node '{}' has no op_type", node.name);
  if (node.op_type == kGetItem) return check_getitem(node);
  Operator* op = find_operator(node.op_type);
  if (op == nullptr) return;
  try {
    check_arguments(node, *op);
  } catch (const ValidationError& error) {
    report("{}", error.what());
  }
  check_num_outputs(node, *op);
}

void GraphValidator::check_arguments(const OpNode& node, Operator& op) {
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
      report("node '{}' ({}): {}", node.name, node.op_type, error.what());
    }
  }
}

// An operator that returns a list has as many outputs as the list happens to have.
void GraphValidator::check_num_outputs(const OpNode& node, const Operator& op) {
  const size_t num_returns = op.schema.returns().size();
  if (!op.returns_list && node.outputs.size() > num_returns) {
    report("node '{}' ({}) has {} outputs, but its operator makes {}", node.name, node.op_type,
           node.outputs.size(), num_returns);
  }
}

void GraphValidator::check_getitem(const OpNode& node) {
  const Attribute* attribute = node.attrs.find("index");
  const int64_t* index = attribute == nullptr ? nullptr : attribute->get_if<int64_t>();
  if (index == nullptr) {
    report("node '{}' ({}) needs an integer attribute 'index'", node.name, node.op_type);
  } else if (*index < 0 || static_cast<size_t>(*index) >= node.inputs.size()) {
    report("node '{}' ({}) takes item {} of {}", node.name, node.op_type, *index,
           node.inputs.size());
  } else if (node.outputs.size() != 1) {
    report("node '{}' ({}) has {} outputs instead of one", node.name, node.op_type,
           node.outputs.size());
  } else if (const auto what = disagreement(node.outputs[0], node.inputs[*index])) {
    report("node '{}': output '{}' {}", node.name, node.outputs[0].name, *what);
  }
}

// Null for an operator that this process does not know.
GraphValidator::Operator* GraphValidator::find_operator(const std::string& op_type) {
  const auto [entry, is_new] = operators_.try_emplace(op_type);
  if (is_new) {
    if (const c10::FunctionSchema* schema = find_schema(op_type)) entry->second.emplace(*schema);
  }
  return entry->second ? &*entry->second : nullptr;
}

}  // namespace torch_ir
