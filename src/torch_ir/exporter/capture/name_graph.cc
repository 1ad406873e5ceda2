#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "torch_ir/base/characters.h"
#include "torch_ir/exporter/capture/python_form.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/ivalue.h"

namespace torch_ir {
namespace {

constexpr std::array<const char*, 4> kPrefixes = {"", "p_", "b_", "c_"};

std::string as_identifier(std::string text) {
  std::ranges::replace_if(text, [](char c) { return !is_name_part(c); }, '_');
  return text;
}

// Keywords and built-in functions of Python that are also operators: torch.fx avoids these names
// and starts with "sum_1".
bool is_python_name(std::string_view name) {
  static constexpr std::string_view kNames[] = {"abs",   "all", "and",   "any", "complex", "is",
                                                "max",   "min", "not",   "or",  "pow",     "range",
                                                "round", "set", "slice", "sum"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

std::vector<std::string> output_names(const std::string& name, size_t num_outputs) {
  if (num_outputs == 1) return {name};
  std::vector<std::string> names;
  for (size_t i = 0; i < num_outputs; ++i) names.push_back(name + "_" + std::to_string(i));
  return names;
}

// Makes names unique: "add", "add_1", "add_2", ... A node also reserves the names of its outputs.
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

// "aten.conv2d.default" to "conv2d", "aten.__and__.Tensor" to "and".
std::string base_name(const std::string& target) {
  const size_t begin = target.find('.') + 1;
  const std::string name = target.substr(begin, target.rfind('.') - begin);
  const bool is_magic = name.size() > 4 && name.starts_with("__") && name.ends_with("__");
  return is_magic ? name.substr(2, name.size() - 4) : name;
}

// C++ accepts one number for `int[2] padding`; Python's graphs have the whole list.
Attribute expanded_list(const c10::Argument& schema, Attribute value) {
  const auto* items = value.get_if<Attribute::List>();
  if (items == nullptr || !schema.N() || items->size() != 1) return value;
  return Attribute::List(static_cast<size_t>(*schema.N()), items->front());
}

bool is_default(const c10::Argument& schema, const Argument& argument) {
  const auto* value = std::get_if<Attribute>(&argument.value);
  if (value == nullptr) return false;
  if (schema.default_value()) {
    return *value == to_attribute(*schema.default_value(), *schema.real_type());
  }
  return value->is_none() && schema.type()->kind() == c10::TypeKind::OptionalType;
}

// `node` has all arguments of `schema`.
void drop_defaults(const std::vector<c10::Argument>& schema, Node& node) {
  std::vector<bool> is_given(schema.size());
  bool is_trailing = true;
  for (size_t i = schema.size(); i-- > 0;) {
    is_given[i] = !is_default(schema[i], node.arguments[i]);
    if (schema[i].kwarg_only()) continue;
    is_trailing = is_trailing && !is_given[i];
    is_given[i] = !is_trailing;
  }
  size_t index = 0;
  std::erase_if(node.arguments, [&](const Argument&) { return !is_given[index++]; });
}

}  // namespace

Argument exported_argument(const c10::Argument& argument, RecordedArgument<ValueId> value) {
  if (const auto* id = std::get_if<ValueId>(&value)) return {argument.name(), *id};
  if (auto* list = std::get_if<RecordedList<ValueId>>(&value)) {
    return {argument.name(), std::move(list->items)};
  }
  Attribute fixed = to_attribute(std::get<c10::IValue>(value), *argument.real_type());
  return {argument.name(), expanded_list(argument, std::move(fixed))};
}

void name_graph(Graph& graph) {
  Namer namer;
  for (const GraphInput& input : graph.inputs) {
    std::string& name = graph[input.value].name;
    const bool is_user_input = input.kind == InputKind::kUserInput;
    name = namer.unique(kPrefixes[static_cast<size_t>(input.kind)] +
                        as_identifier(is_user_input ? name : input.target));
  }
  for (Node& node : graph.nodes) {
    node.name = namer.unique(as_identifier(base_name(node.target)), node.outputs.size());
    drop_defaults(find_schema(node.target)->arguments(), node);
    const std::vector<std::string> names = output_names(node.name, node.outputs.size());
    for (size_t i = 0; i < names.size(); ++i) graph[node.outputs[i]].name = names[i];
  }
  set_uses(graph);
}

}  // namespace torch_ir
