#include "torch_ir/ir/validate.h"

#include <ATen/core/function_schema.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/ivalue.h"

namespace torch_ir {
namespace {

// How the Python package calls the node that takes one output of a node with several.
constexpr std::string_view kGetItem = "<built-in function getitem>";

std::string sizes_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

// What another part of the graph says about a tensor, against how it is declared.
std::optional<std::string> disagreement(const TensorMeta& use, const TensorMeta& declaration) {
  if (use.shape != declaration.shape) {
    return fmt::format("has shape {}, but is made with shape {}", sizes_text(use.shape),
                       sizes_text(declaration.shape));
  }
  if (use.dtype != declaration.dtype) {
    return fmt::format("has dtype {}, but is made with dtype {}", use.dtype, declaration.dtype);
  }
  return std::nullopt;
}

// A place where a tensor is used: an input of a node, or, without a node, an output of the graph.
struct Use {
  const TensorMeta& tensor;
  const OpNode* node;
};

std::string text(const Use& use) {
  return use.node == nullptr
             ? fmt::format("graph output '{}'", use.tensor.name)
             : fmt::format("node '{}': input '{}'", use.node->name, use.tensor.name);
}

class Validator {
 public:
  explicit Validator(const IR& ir) : ir_(ir) {}

  std::vector<std::string> find_problems() {
    index_nodes();
    check_graph_inputs();
    check_weights();
    check_placeholders();
    check_constants();
    for (size_t i = 0; i < ir_.nodes.size(); ++i) check_node(i);
    for (const TensorMeta& output : ir_.graph_outputs) check_use({output, nullptr});
    return std::move(problems_);
  }

 private:
  // What `producer_node` can name: the declarations of a node's outputs, or of a graph input.
  struct Producer {
    const TensorMeta* outputs;
    size_t num_outputs;
  };

  template <class... Args>
  void report(fmt::format_string<Args...> format, Args&&... args) {
    problems_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  // So that a value that is used too early can be told from one that nobody makes.
  void index_nodes() {
    maker_of_output_.reserve(ir_.nodes.size());
    node_names_.reserve(ir_.nodes.size());
    values_.reserve(ir_.nodes.size());
    producers_.reserve(ir_.nodes.size());
    for (const OpNode& node : ir_.nodes) {
      node_names_.emplace(node.name, &node);
      for (const TensorMeta& output : node.outputs) maker_of_output_.emplace(output.name, &node);
    }
  }

  // --- Declarations ---

  // `describe` says what `tensor` is.
  template <class Describe>
  void check_meta(const TensorMeta& tensor, const Describe& describe) {
    if (tensor.name.empty()) report("{} has no name", describe());
    if (std::ranges::any_of(tensor.shape, [](int64_t size) { return size < 0; })) {
      report("{} has a negative size: {}", describe(), sizes_text(tensor.shape));
    }
    if (!find_dtype(tensor.dtype)) {
      report("{} has the unknown dtype '{}'", describe(), tensor.dtype);
    }
  }

  void check_graph_inputs() {
    for (const TensorMeta& input : ir_.graph_inputs) {
      check_meta(input, [&] { return fmt::format("graph input '{}'", input.name); });
      if (!values_.emplace(input.name, &input).second) {
        report("graph input '{}' has the name of another graph input", input.name);
      }
      producers_.emplace(input.name, Producer{&input, 1});
    }
  }

  void check_weights() {
    for (const TensorMeta& weight : ir_.weights) {
      check_meta(weight, [&] { return fmt::format("weight '{}'", weight.name); });
      if (!weights_.emplace(weight.name, &weight).second) {
        report("weight '{}' has the name of another weight", weight.name);
      }
    }
  }

  void check_placeholders() {
    for (const auto& item : ir_.weight_name_mapping) {
      const auto weight = weights_.find(item.value());
      if (weight == weights_.end()) {
        report(
            "weight_name_mapping: placeholder '{}' stands for '{}', which is not among the "
            "weights",
            item.key(), item.value());
        // Known all the same, so that each use of it is not reported again.
        values_.emplace(item.key(), nullptr);
      } else if (!values_.emplace(item.key(), weight->second).second) {
        report("weight_name_mapping: placeholder '{}' has the name of a graph input", item.key());
      }
    }
  }

  void check_constants() {
    for (const auto& item : ir_.constants) {
      const auto weight = weights_.find(item.key());
      if (weight == weights_.end()) {
        report("constant '{}' is not among the weights", item.key());
        continue;
      }
      if (!item.value().defined()) {
        report("constant '{}' is undefined", item.key());
        continue;
      }
      TensorMeta constant;
      constant.shape = item.value().sizes().vec();
      constant.dtype = dtype_name(item.value().scalar_type());
      if (const auto what = disagreement(constant, *weight->second)) {
        report("constant '{}' {} among the weights", item.key(), *what);
      }
    }
  }

  // --- Nodes ---

  void check_node(size_t index) {
    const OpNode& node = ir_.nodes[index];
    if (node.name.empty()) report("node {} has no name", index);
    for (const TensorMeta& input : node.inputs) check_use({input, &node});
    for (const TensorMeta& output : node.outputs) {
      check_meta(output,
                 [&] { return fmt::format("node '{}': output '{}'", node.name, output.name); });
      if (!values_.emplace(output.name, &output).second) {
        report("node '{}': output '{}' has the name of another value", node.name, output.name);
      }
    }
    if (!producers_.emplace(node.name, Producer{node.outputs.data(), node.outputs.size()}).second) {
      report("node '{}' has the name of {}", node.name,
             node_names_.at(node.name) == &node ? "a graph input" : "another node");
    }
    check_operator(node);
  }

  void check_use(const Use& use) {
    const TensorMeta* declaration = use.tensor.producer_node ? find_produced(use) : find_named(use);
    if (declaration == nullptr) return;
    if (const auto problem = disagreement(use.tensor, *declaration)) {
      report("{} {}", text(use), *problem);
    }
  }

  // Null, after a report, when there is no such output.
  const TensorMeta* find_produced(const Use& use) {
    const std::string& name = *use.tensor.producer_node;
    const auto producer = producers_.find(name);
    if (producer == producers_.end()) {
      if (node_names_.contains(name)) {
        report("{} is used before node '{}' makes it", text(use), name);
      } else {
        report("{} names the producer '{}', which is neither a node nor a graph input", text(use),
               name);
      }
      return nullptr;
    }
    const auto& [outputs, num_outputs] = producer->second;
    const int64_t index = use.tensor.producer_output_idx;
    if (index < 0 || static_cast<size_t>(index) >= num_outputs) {
      report("{} is output {} of '{}', which has {} (producer_output_idx counts from 0)", text(use),
             index, name, num_outputs);
      return nullptr;
    }
    if (outputs[index].name != use.tensor.name) {
      report("{} is output {} of '{}', which is called '{}'", text(use), index, name,
             outputs[index].name);
      return nullptr;
    }
    return &outputs[index];
  }

  // Null, after a report unless it was reported before, when there is no such value.
  const TensorMeta* find_named(const Use& use) {
    const std::string& name = use.tensor.name;
    if (const auto value = values_.find(name); value != values_.end()) return value->second;
    if (const auto weight = weights_.find(name); weight != weights_.end()) return weight->second;
    if (use.node == nullptr) {
      report("{} is made by no node, and is neither a graph input nor a weight", text(use));
    } else if (const auto maker = maker_of_output_.find(name); maker != maker_of_output_.end()) {
      report("{} is used before node '{}' makes it", text(use), maker->second->name);
    } else {
      report("{} has no producer_node and is not in weight_name_mapping", text(use));
    }
    return nullptr;
  }

  // --- Operators ---

  void check_operator(const OpNode& node) {
    if (node.op_type.empty()) report("node '{}' has no op_type", node.name);
    if (node.op_type == kGetItem) return check_getitem(node);
    const c10::FunctionSchema* schema = find_schema(node.op_type);
    if (schema == nullptr) return;
    try {
      check_arguments(node, *schema);
    } catch (const ValidationError& error) {
      problems_.emplace_back(error.what());
    }
    check_num_outputs(node, *schema);
  }

  void check_arguments(const OpNode& node, const c10::FunctionSchema& schema) {
    const std::vector<BoundArgument> bound = bind_node(node, schema);
    for (size_t i = 0; i < bound.size(); ++i) {
      const auto* attribute = std::get_if<AttributeArgument>(&bound[i]);
      if (attribute == nullptr) continue;
      try {
        to_ivalue(*attribute->value, schema.arguments()[i]);
      } catch (const ValidationError& error) {
        report("node '{}' ({}): {}", node.name, node.op_type, error.what());
      }
    }
  }

  // An operator that returns a list has as many outputs as the list happens to have.
  void check_num_outputs(const OpNode& node, const c10::FunctionSchema& schema) {
    const auto& returns = schema.returns();
    const bool has_list = std::ranges::any_of(returns, [](const c10::Argument& value) {
      return value.type()->kind() == c10::TypeKind::ListType;
    });
    if (!has_list && node.outputs.size() > returns.size()) {
      report("node '{}' ({}) has {} outputs, but its operator makes {}", node.name, node.op_type,
             node.outputs.size(), returns.size());
    }
  }

  void check_getitem(const OpNode& node) {
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
  const c10::FunctionSchema* find_schema(const std::string& op_type) {
    const auto [entry, is_new] = schemas_.try_emplace(op_type, nullptr);
    if (is_new) {
      if (const auto op = find_operator(op_type)) entry->second = &op->schema();
    }
    return entry->second;
  }

  const IR& ir_;
  std::vector<std::string> problems_;
  std::unordered_map<std::string_view, const OpNode*> node_names_;
  std::unordered_map<std::string_view, const OpNode*> maker_of_output_;
  std::unordered_map<std::string_view, const TensorMeta*> weights_;
  // What nodes can use so far: values by name, and what `producer_node` can name.
  std::unordered_map<std::string_view, const TensorMeta*> values_;
  std::unordered_map<std::string_view, Producer> producers_;
  std::unordered_map<std::string_view, const c10::FunctionSchema*> schemas_;
};

}  // namespace

std::vector<std::string> find_problems(const IR& ir) { return Validator(ir).find_problems(); }

void validate_ir(const IR& ir) {
  const std::vector<std::string> problems = find_problems(ir);
  if (problems.empty()) return;
  throw ValidationError(fmt::format("the IR '{}' is not well formed:\n  {}", ir.model_name,
                                    fmt::join(problems, "\n  ")));
}

}  // namespace torch_ir
