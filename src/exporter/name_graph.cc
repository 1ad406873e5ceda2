#include "torch_ir/exporter/name_graph.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>

#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/ivalue.h"

namespace torch_ir {
namespace {

// Placeholder prefixes by InputKind.
constexpr std::array<const char*, 4> kPrefixes = {"", "p_", "b_", "c_"};

// An identifier: what is not a letter, digit or underscore becomes an underscore.
std::string as_identifier(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return !std::isalnum(c) && c != '_'; }, '_');
  return text;
}

// Gives each name once: "add", "add_1", "add_2", ...
class Namer {
 public:
  std::string unique(const std::string& base) {
    int& count = counts_[base];
    std::string name = count == 0 ? base : base + "_" + std::to_string(count);
    ++count;
    while (!used_.emplace(name, true).second) name = base + "_" + std::to_string(count++);
    return name;
  }

 private:
  std::unordered_map<std::string, int> counts_;
  std::unordered_map<std::string, bool> used_;
};

// "aten::conv2d" to "conv2d".
std::string base_name(const c10::OperatorName& name) {
  const size_t colons = name.name.find("::");
  return colons == std::string::npos ? name.name : name.name.substr(colons + 2);
}

bool is_default(const TracedArgument& value, const c10::Argument& argument) {
  const auto* ivalue = std::get_if<c10::IValue>(&value);
  if (ivalue == nullptr) return false;
  if (ivalue->isNone() && !argument.default_value()) {
    return argument.type()->kind() == c10::TypeKind::OptionalType;
  }
  return argument.default_value() && *argument.default_value() == *ivalue;
}

class GraphNamer {
 public:
  explicit GraphNamer(const TracedGraph& graph) : graph_(graph), names_(graph.values.size()) {}

  ExportedProgram run() {
    for (const TracedInput& input : graph_.inputs) add_input(input);
    for (const TracedNode& node : graph_.nodes) add_node(node);
    for (const ValueId output : graph_.outputs) program_.outputs.push_back(names_[output]);
    return std::move(program_);
  }

 private:
  void add_input(const TracedInput& input) {
    const std::string name = namer_.unique(kPrefixes[static_cast<size_t>(input.kind)] +
                                           as_identifier(input.name));
    name_value(input.value, name);
    const bool is_user_input = input.kind == InputKind::kUserInput;
    program_.inputs.push_back({input.kind, name, is_user_input ? "" : input.name});
  }

  void add_node(const TracedNode& traced) {
    ExportedNode node;
    node.name = namer_.unique(as_identifier(base_name(traced.op.operator_name())));
    node.target = op_type_name(traced.op.operator_name());
    node.arguments = given_arguments(traced);
    for (size_t i = 0; i < traced.outputs.size(); ++i) {
      const bool is_single = traced.outputs.size() == 1;
      node.outputs.push_back(is_single ? node.name : node.name + "_" + std::to_string(i));
      name_value(traced.outputs[i], node.outputs.back());
    }
    program_.nodes.push_back(std::move(node));
  }

  void name_value(ValueId value, const std::string& name) {
    names_[value] = name;
    program_.values[name] = graph_.values[value];
  }

  std::vector<ExportedArgument> given_arguments(const TracedNode& node) const {
    const std::vector<c10::Argument>& schema = node.op.schema().arguments();
    size_t num_positional = 0;
    for (size_t i = 0; i < schema.size(); ++i) {
      const bool is_positional = !schema[i].kwarg_only();
      if (is_positional && !is_default(node.arguments[i], schema[i])) num_positional = i + 1;
    }
    std::vector<ExportedArgument> given;
    for (size_t i = 0; i < schema.size(); ++i) {
      const bool is_given = schema[i].kwarg_only() ? !is_default(node.arguments[i], schema[i])
                                                   : i < num_positional;
      if (is_given) given.push_back(named_argument(node.arguments[i], schema[i]));
    }
    return given;
  }

  ExportedArgument named_argument(const TracedArgument& value, const c10::Argument& argument) const {
    if (const ValueId* id = std::get_if<ValueId>(&value)) {
      return {argument.name(), ValueRef{names_[*id]}};
    }
    if (const TracedList* ids = std::get_if<TracedList>(&value)) {
      ValueList list;
      for (const auto& id : *ids) {
        list.push_back(id ? std::optional(ValueRef{names_[*id]}) : std::nullopt);
      }
      return {argument.name(), std::move(list)};
    }
    return {argument.name(), to_attribute(std::get<c10::IValue>(value), *argument.real_type())};
  }

  const TracedGraph& graph_;
  std::vector<std::string> names_;
  Namer namer_;
  ExportedProgram program_;
};

}  // namespace

ExportedProgram name_graph(const TracedGraph& graph) { return GraphNamer(graph).run(); }

}  // namespace torch_ir
