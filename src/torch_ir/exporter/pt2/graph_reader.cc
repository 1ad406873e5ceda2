#include "torch_ir/exporter/pt2/graph_reader.h"

#include <ATen/core/function_schema.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/value_meta.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/builtin_operators.h"

namespace torch_ir {
namespace {

constexpr std::string_view kOperatorPrefix = "torch.ops.";
constexpr std::string_view kHigherOrderPrefix = "torch.ops.higher_order.";

// "aten.conv2d.default" for "torch.ops.aten.conv2d.default"; others are as they are.
std::string op_type_of_target(std::string_view target) {
  if (target.starts_with(kOperatorPrefix)) target.remove_prefix(kOperatorPrefix.size());
  return std::string(target);
}

// --- Where a node comes from ---

// The class of the outermost module in "L__self__,,models.ResNet;L__self___conv1,conv1,...".
std::string root_class_of(const std::string& module_stack) {
  const std::string_view first = std::string_view(module_stack).substr(0, module_stack.find(';'));
  const size_t path_begin = first.find(',');
  if (path_begin == std::string_view::npos) return {};
  const size_t class_begin = first.find(',', path_begin + 1);
  const bool is_root = class_begin == path_begin + 1;
  return is_root ? std::string(first.substr(class_begin + 1)) : std::string();
}

// The path of the innermost module: "layers.0.attention".
std::string module_path(const std::string& module_stack) {
  const std::string_view last = std::string_view(module_stack).substr(module_stack.rfind(';') + 1);
  const size_t begin = last.find(',');
  if (begin == std::string_view::npos) return {};
  const std::string_view path = last.substr(begin + 1);
  return std::string(path.substr(0, path.find(',')));
}

// The innermost line of `trace` that is not PyTorch's own, without its folder: "model.py:42" of
// 'File "models/model.py", line 42, in forward'.
std::string source_line(std::string_view trace) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  std::string source;
  for (size_t at = trace.find(kFile); at != trace.npos; at = trace.find(kFile, at)) {
    at += kFile.size();
    const size_t end = trace.find(kLine, at);
    if (end == trace.npos) break;
    const std::string_view path = trace.substr(at, end - at);
    const std::string_view number = trace.substr(end + kLine.size());
    const bool is_own = path.find("/torch/") != path.npos;
    if (!is_own || source.empty()) {
      source = path.substr(path.rfind('/') + 1);
      source += ':';
      source += number.substr(0, number.find_first_not_of("0123456789"));
    }
  }
  return source;
}

// A text of the metadata of `node`; empty where the archive does not tell.
std::string read_metadata(const ObjectReader& node, const char* key) {
  const JsonValue* metadata = node.find("metadata");
  if (metadata == nullptr || !metadata->is_object()) return {};
  const JsonValue* value = ObjectReader(*metadata, node.place().key("metadata")).find(key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

// --- Values ---

using ValueReader = ExportedValue (*)(const JsonValue& value, const Place& place);

constexpr std::pair<std::string_view, ValueReader> kValueTables[] = {
    {"tensor_values", read_tensor_meta},
    {"sym_int_values", read_sym_int_meta},
    {"sym_float_values", read_number_meta<c10::ScalarType::Double>},
    {"sym_bool_values", read_number_meta<c10::ScalarType::Bool>},
};

std::unordered_map<std::string, ExportedValue> read_values(const ObjectReader& graph) {
  std::unordered_map<std::string, ExportedValue> values;
  for (const auto& [key, read_value] : kValueTables) {
    const JsonValue* table = graph.find(key);
    if (table == nullptr) continue;
    const Place place = graph.place().key(key);
    for (const auto& [name, meta] : as_object(*table, place)) {
      const std::string shown = printable(name);
      const Place meta_place = place.key(shown);
      if (!values.emplace(name, read_value(meta, meta_place)).second) {
        meta_place.fail("the value is in another table too");
      }
    }
  }
  return values;
}

// The schema names arguments that the archive gives by position; those of Python's functions are
// always positional.
std::string argument_name(const ArchiveNode& node, size_t index,
                          const c10::FunctionSchema* schema) {
  const std::string& name = node.arguments[index].name;
  const bool is_positional = name.empty() || !node.target.starts_with(kOperatorPrefix);
  if (!is_positional) return name;
  if (schema == nullptr) {
    throw ExportError(
        kNotSupported,
        fmt::format(
            "argument {} has no name, and the operator is not known here; load the library that "
            "registers it",
            index));
  }
  if (index >= schema->arguments().size()) {
    throw ExportError(fmt::format("{} arguments are given, but the operator takes {}",
                                  node.arguments.size(), schema->arguments().size()));
  }
  return schema->arguments()[index].name();
}

}  // namespace

// --- Targets ---

// One that is no operator of PyTorch's dispatcher, nor arithmetic on numbers.
struct GraphReader::Target {
  std::string_view name;
  void (GraphReader::*add)(const ArchiveNode&);
  // Whether it leaves no node of its name.
  bool is_inlined = false;
};

const GraphReader::Target* GraphReader::find_special_target(std::string_view target) {
  static constexpr Target kTargets[] = {
      {"torch.ops.higher_order.wrap_with_set_grad_enabled", &GraphReader::inline_set_grad_enabled,
       true},
      {"torch.ops.higher_order.wrap_with_autocast", &GraphReader::inline_autocast, true},
      {"torch.ops.higher_order.with_effects", &GraphReader::inline_with_effects, true},
      {"torch.ops.higher_order.cond", &GraphReader::add_cond},
      {"torch.ops.higher_order.while_loop", &GraphReader::add_while_loop},
      {"torch._C._set_grad_enabled", &GraphReader::skip},
  };
  const auto* const found = std::ranges::find(kTargets, target, &Target::name);
  return found == std::end(kTargets) ? nullptr : found;
}

bool GraphReader::is_supported(std::string_view target) {
  if (find_special_target(target) != nullptr) return true;
  if (target.starts_with(kHigherOrderPrefix)) return false;
  return target.starts_with(kOperatorPrefix) || find_builtin_schema(target) != nullptr;
}

void GraphReader::check_targets() const {
  std::map<std::string, std::vector<std::string>> unsupported;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const ObjectReader node(nodes_[i], nodes_place_.item(i));
    const std::string& target = node.get("target", as_string);
    if (is_supported(target)) continue;
    unsupported[target].push_back(
        fmt::format("'{}'", printable(node.get_or("name", std::string(), as_string))));
  }
  if (unsupported.empty()) return;
  constexpr size_t kMaxNames = 5;
  auto& [target, nodes] = *unsupported.begin();
  const size_t more = nodes.size() - std::min(kMaxNames, nodes.size());
  nodes.resize(nodes.size() - more);
  throw ExportError(
      kNotSupported,
      fmt::format(
          "the operator {} is not supported: node {}{}; {}", printable(op_type_of_target(target)),
          fmt::join(nodes, ", "), more > 0 ? fmt::format(" and {} more", more) : "",
          target.starts_with(kHigherOrderPrefix)
              ? "of the higher-order operators only cond and while_loop are"
              : "ExportedProgram.run_decompositions() before torch.export.save may replace it"));
}

// --- The graph ---

GraphReader::GraphReader(const JsonValue& graph, const Place& place, GraphNames names,
                         GraphBuilder& builder, AutocastDtype autocast)
    : place_(place),
      nodes_(as_list(ObjectReader(graph, place).get("nodes"), nodes_place_)),
      names_(names),
      builder_(builder),
      autocast_(autocast) {
  const ObjectReader fields(graph, place);
  inputs_ = fields.get_list("inputs", read_port);
  outputs_ = fields.get_list("outputs", read_port);
  values_ = read_values(fields);
  check_targets();
  if (names == GraphNames::kKept) reserve_names();
}

// Keeps the names of the graph from being given to what is inlined into it.
void GraphReader::reserve_names() {
  for (const auto& [name, value] : values_) builder_.reserve(name);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const ObjectReader node(nodes_[i], nodes_place_.item(i));
    const Target* target = find_special_target(node.get("target", as_string));
    if (target != nullptr && target->is_inlined) continue;
    builder_.reserve(node.get_or("name", std::string(), as_string));
  }
}

void GraphReader::bind(const std::string& name, Operand operand) {
  if (!operands_.emplace(name, std::move(operand)).second) {
    throw ExportError(fmt::format("there are two values called '{}'", printable(name)));
  }
}

const ExportedValue& GraphReader::value(const std::string& name) const {
  const auto value = values_.find(name);
  if (value != values_.end()) return value->second;
  throw ExportError(
      fmt::format("the shape and dtype of the value '{}' are missing", printable(name)));
}

// --- Arguments ---

const Operand& GraphReader::find(const std::string& name) const {
  const auto operand = operands_.find(name);
  if (operand != operands_.end()) return operand->second;
  throw ExportError(
      fmt::format("the value '{}' is used, but nothing before makes it", printable(name)));
}

Attribute GraphReader::as_attribute(const Operand& operand) const {
  const auto* id = std::get_if<ValueId>(&operand);
  return id == nullptr ? std::get<Attribute>(operand) : ValueRef{builder_.graph()[*id].name};
}

Operand GraphReader::resolve(const Attribute& attribute) const {
  if (const std::string* name = referred_name(attribute)) return find(*name);
  return with_values(attribute, [&](const ValueRef& ref) { return as_attribute(find(ref.name)); });
}

Operand GraphReader::resolve_one(const ArchiveArgument& argument) const {
  if (const auto* attribute = std::get_if<Attribute>(&argument)) return resolve(*attribute);
  if (const auto* unsupported = std::get_if<UnsupportedArgument>(&argument)) {
    throw ExportError(kNotSupported,
                      fmt::format("{} as an argument is not supported", unsupported->what));
  }
  throw ExportError("an argument is a list, a graph or an operator where one value is expected");
}

std::vector<Operand> GraphReader::resolve_list(const ArchiveArgument& argument) const {
  std::vector<Operand> operands;
  if (const auto* names = std::get_if<NameList>(&argument)) {
    for (const auto& name : *names) operands.push_back(name ? find(*name) : Attribute());
    return operands;
  }
  const auto* attribute = std::get_if<Attribute>(&argument);
  const auto* items = attribute == nullptr ? nullptr : attribute->get_if<Attribute::List>();
  if (items == nullptr) throw ExportError("an argument is not a list where one is expected");
  for (const Attribute& item : *items) operands.push_back(resolve(item));
  return operands;
}

decltype(ExportedArgument::value) GraphReader::as_argument(const Operand& operand) const {
  const auto* id = std::get_if<ValueId>(&operand);
  if (id != nullptr && !builder_.graph()[*id].is_scalar) return *id;
  return as_attribute(operand);
}

decltype(ExportedArgument::value) GraphReader::resolve_names(const NameList& names) const {
  ValueList tensors;
  Attribute::List numbers;
  for (const auto& name : names) {
    const auto value = name ? as_argument(find(*name)) : Attribute();
    if (const auto* tensor = std::get_if<ValueId>(&value)) {
      tensors.emplace_back(*tensor);
    } else {
      tensors.emplace_back(std::nullopt);
      numbers.push_back(std::get<Attribute>(value));
    }
  }
  const bool has_none = std::count(names.begin(), names.end(), std::nullopt) > 0;
  if (!names.empty() && !has_none && numbers.size() == names.size()) return Attribute(numbers);
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i] || tensors[i]) continue;
    throw ExportError(fmt::format("'{}' in a list of tensors is a number", printable(*names[i])));
  }
  return tensors;
}

decltype(ExportedArgument::value) GraphReader::resolve_argument(
    const ArchiveArgument& argument) const {
  const auto* names = std::get_if<NameList>(&argument);
  return names == nullptr ? as_argument(resolve_one(argument)) : resolve_names(*names);
}

std::vector<ExportedArgument> GraphReader::resolve_arguments(const ArchiveNode& node) const {
  const c10::FunctionSchema* schema = find_schema(op_type_of_target(node.target));
  std::vector<ExportedArgument> arguments;
  for (size_t i = 0; i < node.arguments.size(); ++i) {
    std::string name = argument_name(node, i, schema);
    if (std::ranges::find(arguments, name, &ExportedArgument::name) != arguments.end()) {
      throw ExportError(fmt::format("the argument '{}' is given twice", printable(name)));
    }
    try {
      arguments.push_back({name, resolve_argument(node.arguments[i].value)});
    } catch (const ExportError& error) {
      throw ExportError(error, fmt::format("argument '{}': {}", printable(name), error.what()));
    }
  }
  return arguments;
}

// --- Nodes ---

ArchiveNode GraphReader::read_node(const JsonValue& json, const Place& place) {
  const ObjectReader fields(json, place);
  ArchiveNode node;
  node.place = &place;
  node.target = fields.get("target", as_string);
  node.arguments = fields.get_list("inputs", [](const JsonValue& item, const Place& item_place) {
    const ObjectReader argument(item, item_place);
    return ArchiveNode::Argument{argument.get_or("name", std::string(), as_string),
                                 argument.get("arg", read_argument)};
  });
  for (NameList& names : fields.get_list("outputs", read_output_names)) {
    node.outputs.insert(node.outputs.end(), names.begin(), names.end());
  }
  node.name = fields.get_or("name", std::string(), as_string);
  const std::string module_stack = read_metadata(fields, "nn_module_stack");
  if (root_class_.empty()) root_class_ = root_class_of(module_stack);
  builder_.set_origin({.module = module_path(module_stack),
                       .source = source_line(read_metadata(fields, "stack_trace"))});
  return node;
}

void GraphReader::read_nodes() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Place place = nodes_place_.item(i);
    add(read_node(nodes_[i], place));
  }
}

void GraphReader::add(const ArchiveNode& node) {
  try {
    const Target* target = find_special_target(node.target);
    if (target != nullptr) return (this->*target->add)(node);
    add_operator(node);
  } catch (const ExportError& error) {
    throw ExportError(error, fmt::format("node '{}' ({}): {}", printable(node.name),
                                         printable(op_type_of_target(node.target)), error.what()));
  }
}

void GraphReader::add_operator(const ArchiveNode& node) {
  add_node(
      node,
      {.name = {}, .target = op_type_of_target(node.target), .arguments = resolve_arguments(node)});
}

void GraphReader::add_node(const ArchiveNode& node, ExportedNode lowered) {
  NameList names = node.outputs;
  // What an operator leaves undefined is no output.
  std::erase(names, std::nullopt);
  std::vector<ExportedValue> outputs;
  for (const auto& name : names) {
    outputs.push_back(value(*name));
    outputs.back().name = new_name(*name);
  }
  lowered.name = node_name(node, lowered, outputs);
  const bool is_cast = autocast_ && lowered.graphs.empty();
  const std::vector<ValueId> ids =
      is_cast ? add_under_autocast(std::move(lowered), std::move(outputs), *autocast_, builder_)
              : builder_.add_node(std::move(lowered), std::move(outputs));
  for (size_t i = 0; i < ids.size(); ++i) bind(*names[i], ids[i]);
}

std::string GraphReader::new_name(const std::string& name) const {
  if (names_ == GraphNames::kKept) return name;
  const auto wish = wishes_.find(name);
  return wish == wishes_.end() ? builder_.new_name(name) : wish->second;
}

// A node of one output is called as its output wherever it is so in the archive. Archives of old
// schemas name no nodes at all: "add_Tensor" for "torch.ops.aten.add.Tensor", as FX calls them.
std::string GraphReader::node_name(const ArchiveNode& node, const ExportedNode& lowered,
                                   const std::vector<ExportedValue>& outputs) const {
  const bool is_single = node.outputs.size() == 1 && outputs.size() == 1 && lowered.graphs.empty();
  if (is_single && (node.name.empty() || node.name == *node.outputs[0])) return outputs[0].name;
  if (!node.name.empty()) return new_name(node.name);
  std::string name = lowered.target.substr(lowered.target.find('.') + 1);
  std::ranges::replace(name, '.', '_');
  return builder_.new_name(name);
}

}  // namespace torch_ir
