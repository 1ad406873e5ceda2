#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "torch_ir/exporter/capture/traced_graph.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/ivalue.h"

namespace torch_ir {
namespace {

// Placeholder prefixes by InputKind.
constexpr std::array<const char*, 4> kPrefixes = {"", "p_", "b_", "c_"};

// An identifier: what is not a letter, digit or underscore becomes an underscore.
std::string as_identifier(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return !std::isalnum(c) && c != '_'; }, '_');
  return text;
}

// Keywords and built-in functions of Python that are names of operators too: torch.fx leaves them
// to Python and starts with "sum_1".
bool is_python_name(std::string_view name) {
  static constexpr std::string_view kNames[] = {"abs",   "all", "and",   "any", "complex", "is",
                                                "max",   "min", "not",   "or",  "pow",     "range",
                                                "round", "set", "slice", "sum"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

// The names of the outputs of the node `name`.
std::vector<std::string> output_names(const std::string& name, size_t num_outputs) {
  if (num_outputs == 1) return {name};
  std::vector<std::string> names;
  for (size_t i = 0; i < num_outputs; ++i) names.push_back(name + "_" + std::to_string(i));
  return names;
}

// Gives each name once: "add", "add_1", "add_2", ... A node takes those of its outputs with it.
class Namer {
 public:
  std::string unique(const std::string& base, size_t num_outputs = 1) {
    int& count = counts_.try_emplace(base, is_python_name(base) ? 1 : 0).first->second;
    std::string name;
    do {
      name = count == 0 ? base : base + "_" + std::to_string(count);
      ++count;
    } while (!take(name, num_outputs));
    return name;
  }

 private:
  // False, and nothing is taken, where one of the names is.
  bool take(const std::string& name, size_t num_outputs) {
    std::vector<std::string> names = output_names(name, num_outputs);
    names.push_back(name);
    const auto is_used = [this](const std::string& one) { return used_.contains(one); };
    if (std::ranges::any_of(names, is_used)) return false;
    used_.insert(names.begin(), names.end());
    return true;
  }

  std::unordered_map<std::string, int> counts_;
  std::unordered_set<std::string> used_;
};

// "aten::conv2d" to "conv2d", "aten::__and__" to "and".
std::string base_name(const c10::OperatorName& operator_name) {
  const std::string& qualified = operator_name.name;
  const size_t colons = qualified.find("::");
  const std::string name = colons == std::string::npos ? qualified : qualified.substr(colons + 2);
  const bool is_magic = name.size() > 4 && name.starts_with("__") && name.ends_with("__");
  return is_magic ? name.substr(2, name.size() - 4) : name;
}

// In C++ one number stands for all of `int[2] padding`; Python's graphs have the whole list.
TracedArgument with_full_length(const TracedArgument& value, const c10::Argument& argument) {
  const auto* ivalue = std::get_if<c10::IValue>(&value);
  const bool is_short =
      ivalue != nullptr && argument.N() && ivalue->isIntList() && ivalue->toIntList().size() == 1;
  if (!is_short) return value;
  return c10::IValue(c10::List<int64_t>(
      std::vector<int64_t>(static_cast<size_t>(*argument.N()), ivalue->toIntList().get(0))));
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
  GraphNamer(const TracedGraph& graph, std::vector<std::string>& names)
      : graph_(graph), names_(names) {
    names_.assign(graph.values.size(), "");
  }

  ExportedProgram run() {
    for (const TracedInput& input : graph_.inputs) add_input(input);
    for (const TracedNode& node : graph_.nodes) add_node(node);
    for (const TracedId output : graph_.outputs) program_.outputs.push_back(names_[output]);
    return std::move(program_);
  }

 private:
  void add_input(const TracedInput& input) {
    const std::string name =
        namer_.unique(kPrefixes[static_cast<size_t>(input.kind)] + as_identifier(input.name));
    name_value(input.value, name);
    const bool is_user_input = input.kind == InputKind::kUserInput;
    program_.inputs.push_back({input.kind, name, is_user_input ? "" : input.name});
  }

  void add_node(const TracedNode& traced) {
    ExportedNode node;
    node.name =
        namer_.unique(as_identifier(base_name(traced.op.operator_name())), traced.outputs.size());
    node.target = op_type_name(traced.op.operator_name());
    node.arguments = given_arguments(traced);
    node.outputs = output_names(node.name, traced.outputs.size());
    for (size_t i = 0; i < traced.outputs.size(); ++i) {
      name_value(traced.outputs[i], node.outputs[i]);
    }
    program_.nodes.push_back(std::move(node));
  }

  void name_value(TracedId value, const std::string& name) {
    names_[value] = name;
    program_.values[name] = graph_.values[value];
  }

  std::vector<ExportedArgument> given_arguments(const TracedNode& node) const {
    const std::vector<c10::Argument>& schema = node.op.schema().arguments();
    std::vector<TracedArgument> values;
    size_t num_positional = 0;
    for (size_t i = 0; i < schema.size(); ++i) {
      values.push_back(with_full_length(node.arguments[i], schema[i]));
      if (!schema[i].kwarg_only() && !is_default(values[i], schema[i])) num_positional = i + 1;
    }
    std::vector<ExportedArgument> given;
    for (size_t i = 0; i < schema.size(); ++i) {
      const bool is_given =
          schema[i].kwarg_only() ? !is_default(values[i], schema[i]) : i < num_positional;
      if (is_given) given.push_back(named_argument(values[i], schema[i]));
    }
    return given;
  }

  ExportedArgument named_argument(const TracedArgument& value,
                                  const c10::Argument& argument) const {
    if (const TracedId* id = std::get_if<TracedId>(&value)) {
      return {argument.name(), ValueRef{names_[*id]}};
    }
    if (const auto* ids = std::get_if<RecordedList<TracedId>>(&value)) {
      ValueList list;
      for (const auto& id : ids->items) {
        list.push_back(id ? std::optional(ValueRef{names_[*id]}) : std::nullopt);
      }
      return {argument.name(), std::move(list)};
    }
    return {argument.name(), to_attribute(std::get<c10::IValue>(value), *argument.real_type())};
  }

  const TracedGraph& graph_;
  std::vector<std::string>& names_;
  Namer namer_;
  ExportedProgram program_;
};

}  // namespace

ExportedProgram name_graph(const TracedGraph& graph, std::vector<std::string>& names) {
  return GraphNamer(graph, names).run();
}

}  // namespace torch_ir
