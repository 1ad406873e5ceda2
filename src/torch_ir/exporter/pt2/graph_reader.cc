#include "torch_ir/exporter/pt2/graph_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/builtin_operators.h"

namespace torch_ir {
namespace {

// PyTorch's own, and those of the dialects of ExecuTorch ("executorch.exir.dialects.edge._ops.").
constexpr std::string_view kOperatorPrefixes[] = {"torch.ops.", "executorch.exir.dialects."};
constexpr std::string_view kOperators = "ops.";

bool is_operator(std::string_view target) { return op_type_of_target(target) != target; }

// Whether the dispatcher has or could have the operator: not for higher-order ones, which take
// graphs, and Python's functions.
bool has_schema(std::string_view target) {
  const std::string op_type = op_type_of_target(target);
  if (find_builtin_schema(op_type) != nullptr) return true;
  return is_operator(target) && !is_higher_order(op_type);
}

// The class of the outermost module in "L__self__,,models.ResNet;L__self___conv1,conv1,...".
std::string root_class_of(const std::string& module_stack) {
  const std::string_view first = std::string_view(module_stack).substr(0, module_stack.find(';'));
  const size_t comma = first.find(',');
  const bool is_root = comma != first.npos && first.substr(comma).starts_with(",,");
  return is_root ? std::string(first.substr(comma + 2)) : std::string();
}

constexpr std::string_view kModelKey = "L__self__";
// Paths of the model itself: of nodes that passes of torch.export make, and of graphs inside nodes.
constexpr std::string_view kModelPaths[] = {"_empty_nn_module_stack_from_metadata_hook",
                                            "_export_root"};

// Whether `items` begins with the key of a module: a number, or kModelKey and more.
bool begins_with_key(std::string_view items) {
  const size_t digits = items.find_first_not_of("0123456789@");
  return items.starts_with(kModelKey) ||
         (digits != 0 && digits != items.npos && items[digits] == ',');
}

// "KEY,PATH,CLASS" of the innermost module. A path may hold ';'.
std::string_view innermost_module(std::string_view module_stack) {
  for (size_t at = module_stack.rfind(';'); at != 0 && at != module_stack.npos;
       at = module_stack.rfind(';', at - 1)) {
    if (begins_with_key(module_stack.substr(at + 1))) return module_stack.substr(at + 1);
  }
  if (begins_with_key(module_stack)) return module_stack;
  return module_stack.substr(module_stack.rfind(';') + 1);
}

// The path of the innermost module: "layers.0.attention". A path may hold ',', and so may its key,
// which is a number or ends in the path and maybe "@" with the number of the call.
std::string module_path(std::string_view module_stack) {
  std::string_view item = innermost_module(module_stack);
  item = item.substr(0, item.rfind(','));
  const size_t first = item.find(',');
  if (first == item.npos) return {};
  std::string_view path = item.substr(first + 1);
  for (size_t at = first; at != item.npos; at = item.find(',', at + 1)) {
    const std::string_view key = item.substr(0, at);
    const std::string_view behind = item.substr(at + 1);
    const bool is_path = key == std::string(kModelKey).append(behind) ||
                         key.starts_with(std::string(kModelKey).append(behind) + '@');
    if (is_path) path = behind;
  }
  for (const std::string_view model : kModelPaths) {
    if (path == model) return {};
    if (path.starts_with(model) && path[model.size()] == '.') path.remove_prefix(model.size() + 1);
  }
  return std::string(path);
}

// The innermost line of `trace` outside of PyTorch: "models/model.py:42" of 'File
// "models/model.py", line 42, in forward'. If it is in an installed package, the innermost one
// outside of them follows: ".../site-packages/zoo/net.py:7, called at train.py:42".
std::string source_line(std::string_view trace) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  std::string innermost;
  std::string own;
  for (size_t at = trace.find(kFile); at != trace.npos; at = trace.find(kFile, at)) {
    at += kFile.size();
    const size_t end = trace.find(kLine, at);
    if (end == trace.npos) break;
    const std::string_view path = trace.substr(at, end - at);
    const std::string_view number = trace.substr(end + kLine.size());
    const bool is_torch = path.find("/torch/") != path.npos;
    if (is_torch && !innermost.empty()) continue;
    innermost = std::string(path) + ":";
    innermost += number.substr(0, number.find_first_not_of("0123456789"));
    if (!is_torch && path.find("/site-packages/") == path.npos) own = innermost;
  }
  return own.empty() || own == innermost ? innermost : innermost + ", called at " + own;
}

std::string read_metadata(const ObjectReader& node, const char* key) {
  const JsonValue* metadata = node.find("metadata");
  if (metadata == nullptr || !metadata->is_object()) return {};
  const JsonValue* value = ObjectReader(*metadata, node.place().key("metadata")).find(key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::unordered_map<std::string, Value> read_values(const ObjectReader& graph) {
  std::unordered_map<std::string, Value> values;
  const auto read_table = [&](std::string_view key, const auto& read_value) {
    const JsonValue* table = graph.find(key);
    if (table == nullptr) return;
    const Place place = graph.place().key(key);
    for (const auto& [name, meta] : as_object(*table, place)) {
      const Place meta_place = place.key(name);
      if (!values.emplace(name, read_value(meta, meta_place)).second) {
        meta_place.fail("duplicate value: it is also in another table");
      }
    }
  };
  read_table("tensor_values", read_tensor_meta);
  read_table("sym_int_values", read_integer_meta);
  read_table("sym_float_values", std::bind_front(read_number_meta, c10::ScalarType::Double));
  read_table("sym_bool_values", std::bind_front(read_number_meta, c10::ScalarType::Bool));
  return values;
}

constexpr const char* kIdentityOfNumbers = "_operator.pos";

c10::ScalarType dtype_of_number(const Attribute& value) {
  if (value.get_if<bool>() != nullptr) return c10::ScalarType::Bool;
  if (value.get_if<double>() != nullptr) return c10::ScalarType::Double;
  if (value.get_if<int64_t>() != nullptr) return c10::ScalarType::Long;
  throw ExportError(
      kNotSupported,
      "a control flow operator is given a value that is neither a tensor nor a number");
}

}  // namespace

std::string op_type_of_target(std::string_view target) {
  for (const std::string_view prefix : kOperatorPrefixes) {
    const size_t found = target.starts_with(prefix) ? target.find(kOperators) : target.npos;
    if (found != target.npos) return std::string(target.substr(found + kOperators.size()));
  }
  return std::string(target);
}

std::string GraphBuilder::new_name(const std::string& wanted) {
  if (taken_.insert(wanted).second) return wanted;
  int& number = next_number_[wanted];
  for (;;) {
    std::string name = fmt::format("{}_{}", wanted, ++number);
    if (taken_.insert(name).second) return name;
  }
}

ValueId GraphBuilder::add_input(InputKind kind, Value value, const std::string& target) {
  producers_.insert(value.name);
  const ValueId id = define(std::move(value));
  graph_.inputs.push_back({kind, id, target});
  return id;
}

std::vector<ValueId> GraphBuilder::add_node(Node node, std::vector<Value> outputs) {
  for (Value& output : outputs) node.outputs.push_back(define(std::move(output)));
  if (!producers_.insert(node.name).second) {
    throw ExportError(fmt::format("duplicate node or input '{}'", printable(node.name)));
  }
  node.origin = origin_;
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().outputs;
}

ValueId GraphBuilder::add_value(const std::string& target, std::vector<Argument> arguments,
                                Value output) {
  return add_node({output.name, target, std::move(arguments)}, {output})[0];
}

ValueId GraphBuilder::add_number(const std::string& wanted, const Attribute& value) {
  return add_value(
      kIdentityOfNumbers, {{"a", value}},
      {.shape = {}, .dtype = dtype_of_number(value), .is_scalar = true, .name = new_name(wanted)});
}

void GraphBuilder::add_output(const Operand& output) {
  if (const auto id = value_of(output)) return add_output(*id);
  const size_t index = graph_.outputs.size() + graph_.constant_outputs.size();
  graph_.constant_outputs.push_back({static_cast<int64_t>(index), std::get<Attribute>(output)});
}

std::optional<ValueId> GraphBuilder::find(const std::string& name) const {
  const auto value = values_.find(name);
  return value == values_.end() ? std::nullopt : std::optional(value->second);
}

std::optional<ValueId> GraphBuilder::value_of(const Operand& operand) const {
  if (const auto* id = std::get_if<ValueId>(&operand)) return *id;
  const std::string* name = referred_name(std::get<Attribute>(operand));
  return name == nullptr ? std::nullopt : find(*name);
}

ValueId GraphBuilder::define(Value value) {
  taken_.insert(value.name);
  if (values_.contains(value.name)) {
    throw ExportError(fmt::format("duplicate value '{}'", printable(value.name)));
  }
  const std::string name = value.name;
  return values_[name] = graph_.add_value(std::move(value));
}

// A target other than the dispatcher's operators and arithmetic on numbers.
struct GraphReader::Target {
  std::string_view name;
  void (GraphReader::*add)(const Call&);
  bool is_inlined = false;
};

const GraphReader::Target* GraphReader::find_special_target(std::string_view target) {
  static constexpr Target kTargets[] = {
      {"torch.ops.higher_order.wrap_with_set_grad_enabled", &GraphReader::inline_set_grad_enabled,
       true},
      {"torch.ops.higher_order.wrap_with_autocast", &GraphReader::inline_autocast, true},
      {"torch.ops.higher_order.with_effects", &GraphReader::inline_with_effects, true},
      {"torch.ops.higher_order.invoke_subgraph", &GraphReader::inline_subgraph, true},
      {"torch.ops.higher_order.hints_wrapper", &GraphReader::inline_call, true},
      {"torch.ops.higher_order.strict_mode", &GraphReader::inline_call, true},
      {"torch.ops.higher_order.tag_activation_checkpoint", &GraphReader::inline_call, true},
      {"torch.ops.higher_order.wrap", &GraphReader::inline_call, true},
      {"torch.ops.higher_order.wrap_activation_checkpoint", &GraphReader::inline_call, true},
      {"torch.ops.higher_order.cond", &GraphReader::add_cond},
      {"torch.ops.higher_order.map_impl", &GraphReader::add_loop_over_slices},
      {"torch.ops.higher_order.scan", &GraphReader::add_loop_over_slices},
      {"torch.ops.higher_order.while_loop", &GraphReader::add_while_loop},
      {"torch._C._set_grad_enabled", &GraphReader::skip},
  };
  const auto* const found = std::ranges::find(kTargets, target, &Target::name);
  return found == std::end(kTargets) ? nullptr : found;
}

GraphReader::GraphReader(const JsonValue& graph, const Place& place, GraphNames names,
                         GraphBuilder& builder, std::optional<Autocast> autocast)
    : place_(place),
      nodes_(as_list(ObjectReader(graph, place).get("nodes"), nodes_place_)),
      names_(names),
      builder_(builder),
      autocast_(autocast) {
  const ObjectReader fields(graph, place);
  inputs_ = fields.get_list("inputs", read_port);
  outputs_ = fields.get_list("outputs", read_port);
  values_ = read_values(fields);
  if (names == GraphNames::kKept) reserve_names();
}

// Reserves the names of the graph, so that inlined graphs do not take them.
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
    throw ExportError(fmt::format("duplicate value '{}'", printable(name)));
  }
}

void GraphReader::bind_value(const std::string& name, ValueId id) {
  const Value& value = builder_.graph()[id];
  bind(name, value.is_scalar ? Operand(Attribute(ValueRef{value.name})) : id);
}

void GraphReader::add_input(InputKind kind, const std::string& name, const std::string& target) {
  Value input = value(name);
  input.name = name;
  bind_value(name, builder_.add_input(kind, std::move(input), target));
}

const Value& GraphReader::value(const std::string& name) const {
  const auto value = values_.find(name);
  if (value != values_.end()) return value->second;
  throw ExportError(fmt::format("missing shape and dtype of the value '{}'", printable(name)));
}

const Operand& GraphReader::find(const std::string& name) const {
  const auto operand = operands_.find(name);
  if (operand != operands_.end()) return operand->second;
  throw ExportError(
      fmt::format("the value '{}' is used before any node or input makes it", printable(name)));
}

Operand GraphReader::resolve(const Attribute& port) const {
  const std::string* name = referred_name(port);
  if (name == nullptr) return port;
  return find(*name);
}

ObjectReader GraphReader::Call::operator[](size_t index) const {
  if (index < size()) return ObjectReader(arguments[first + index], place.item(first + index));
  throw ExportError(
      fmt::format("missing argument {}; the number of arguments is {}", index, size()));
}

// Python's functions are always positional.
std::string GraphReader::Call::argument_name(size_t index,
                                             const c10::FunctionSchema* schema) const {
  std::string given = (*this)[index].get_or("name", std::string(), as_string);
  if (!given.empty() && is_operator(target)) return given;
  if (schema == nullptr) {
    throw ExportError(kNotSupported,
                      fmt::format("argument {} has no name, and the operator is unknown; {}", index,
                                  advice_about_unknown(op_type_of_target(target))));
  }
  if (index >= schema->arguments().size()) {
    throw ExportError(fmt::format("wrong number of arguments: {}, expected at most {}", size(),
                                  schema->arguments().size()));
  }
  return schema->arguments()[index].name();
}

Operand GraphReader::read(const Call& call, size_t index) const {
  return call[index].get("arg", [&](const JsonValue& json, const Place& place) {
    return read_argument(json, place, [this](const std::string& name) { return find(name); });
  });
}

std::vector<Operand> GraphReader::read_list(const Call& call, size_t index) const {
  return call[index].get("arg", [&](const JsonValue& json, const Place& place) {
    return read_items(json, place, [this](const std::string& name) { return find(name); });
  });
}

std::vector<Argument> GraphReader::read_arguments(const Call& call) const {
  const c10::FunctionSchema* schema = find_schema(op_type_of_target(call.target));
  std::vector<Argument> arguments;
  for (size_t i = 0; i < call.size(); ++i) {
    const std::string name = call.argument_name(i, schema);
    if (std::ranges::find(arguments, name, &Argument::name) != arguments.end()) {
      throw ExportError(fmt::format("duplicate argument '{}'", printable(name)));
    }
    try {
      arguments.push_back({name, read(call, i)});
    } catch (const ExportError& error) {
      throw ExportError(error, fmt::format("argument '{}': {}", printable(name), error.what()));
    }
  }
  return arguments;
}

void GraphReader::read_node(const JsonValue& json, const Place& place) {
  const ObjectReader fields(json, place);
  const std::string module_stack = read_metadata(fields, "nn_module_stack");
  if (root_class_.empty()) root_class_ = root_class_of(module_stack);
  builder_.set_origin({.module = module_path(module_stack),
                       .source = source_line(read_metadata(fields, "stack_trace"))});
  const Place arguments = place.key("inputs");
  Call call{fields.get_or("name", std::string(), as_string),
            fields.get("target", as_string),
            as_list(fields.get("inputs"), arguments),
            arguments,
            {}};
  for (const auto& names : fields.get_list("outputs", read_output_names)) {
    call.outputs.insert(call.outputs.end(), names.begin(), names.end());
  }
  add(call);
}

void GraphReader::read_nodes() {
  for (size_t i = 0; i < nodes_.size(); ++i) read_node(nodes_[i], nodes_place_.item(i));
}

void GraphReader::add(const Call& call) {
  try {
    const Target* target = find_special_target(call.target);
    if (target != nullptr) return (this->*target->add)(call);
    add_operator(call);
  } catch (const ExportError& error) {
    throw ExportError(error, fmt::format("node '{}' ({}): {}", printable(call.name),
                                         printable(op_type_of_target(call.target)), error.what()));
  }
}

void GraphReader::add_operator(const Call& call) {
  if (!has_schema(call.target)) return add_without_schema(call);
  Node node{
      .name = "", .target = op_type_of_target(call.target), .arguments = read_arguments(call)};
  if (node.find_opaque() != nullptr) return add_without_schema(call);
  add_node(call, std::move(node));
}

// The meta kernel of this operator in Python declares float64 and int64; its kernel, and ours,
// return the dtype of the input, or float32 where that is float16.
void GraphReader::declare_dtypes(const Node& node, std::vector<Value>& outputs) const {
  if (node.target != "quantized_decomposed.choose_qparams_per_token.default") return;
  const auto* input =
      node.arguments.empty() ? nullptr : std::get_if<ValueId>(&node.arguments.front().value);
  if (input == nullptr) return;
  const c10::ScalarType dtype = builder_.graph()[*input].dtype;
  for (Value& output : outputs) output.dtype = dtype == at::kHalf ? at::kFloat : dtype;
}

void GraphReader::add_node(const Call& call, Node node) {
  std::vector<std::string> names;
  std::vector<Value> outputs;
  for (const auto& name : call.outputs) {
    // An output that the operator leaves undefined has no name.
    if (!name) continue;
    names.push_back(*name);
    outputs.push_back(value(*name));
    outputs.back().name = new_name(*name);
  }
  declare_dtypes(node, outputs);
  node.name = node_name(call, node, outputs);
  const bool is_cast = autocast_ && node.graphs.empty() && node.find_opaque() == nullptr;
  const std::vector<ValueId> ids =
      is_cast ? add_under_autocast(std::move(node), std::move(outputs), *autocast_, builder_)
              : builder_.add_node(std::move(node), std::move(outputs));
  for (size_t i = 0; i < ids.size(); ++i) bind_value(names[i], ids[i]);
}

std::string GraphReader::new_name(const std::string& name) const {
  if (names_ == GraphNames::kKept) return name;
  const auto wish = wishes_.find(name);
  return wish == wishes_.end() ? builder_.new_name(name) : wish->second;
}

// A node with one output is named after it if the archive does so. Archives of old schemas do not
// name nodes: FX calls "torch.ops.aten.add.Tensor" "add_Tensor".
std::string GraphReader::node_name(const Call& call, const Node& node,
                                   const std::vector<Value>& outputs) const {
  const bool is_single = call.outputs.size() == 1 && outputs.size() == 1 && node.graphs.empty();
  if (is_single && (call.name.empty() || call.name == *call.outputs[0])) return outputs[0].name;
  if (!call.name.empty()) return new_name(call.name);
  std::string name = node.target.substr(node.target.find('.') + 1);
  std::ranges::replace(name, '.', '_');
  return builder_.new_name(name);
}

}  // namespace torch_ir
