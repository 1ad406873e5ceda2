#include "torch_ir/ir/json.h"

#include <ATen/core/function_schema.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/foreign_file.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/ivalue.h"
#include "torch_ir/ir/json_constants.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {
namespace {

// A file without "format_version" has version 1, the format of the Python package.
constexpr int64_t kFormatVersion = 2;
constexpr std::string_view kFormatVersionKey = "format_version";

// --- Reading ---

Attribute read_plain_attribute(const JsonValue& value, const Place& place) {
  if (value.is_null()) return {};
  if (value.is_boolean()) return value.get<bool>();
  if (value.type() == JsonValue::value_t::number_integer) return value.get<int64_t>();
  if (value.is_number_float()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object()) {
    const ObjectReader members(value, place, {"value", "opaque"});
    if (members.find("opaque") != nullptr) return Opaque{members.get("opaque", as_string)};
    return ValueRef{members.get("value", as_string)};
  }
  if (!value.is_array()) place.fail("a value or a list of values", value);
  return as_list_of(value, place, read_plain_attribute);
}

// `schema`, if there is one, says the types.
AttributeMap read_attributes(const JsonValue& value, const Place& place,
                             const c10::FunctionSchema* schema) {
  std::vector<AttributeMap::Item> items;
  for (const auto& [name, member] : as_object(value, place)) {
    Attribute attribute = read_plain_attribute(member, place.key(name));
    const auto index = schema ? schema->argumentIndexWithName(name) : std::nullopt;
    if (index) {
      attribute = with_argument_type(std::move(attribute),
                                     schema->arguments()[static_cast<size_t>(*index)]);
    }
    items.emplace_back(name, std::move(attribute));
  }
  return AttributeMap(std::move(items));
}

void read_shape(const JsonValue& value, const Place& place, TensorMeta& tensor) {
  const JsonValue::array_t& sizes = as_list(value, place);
  tensor.shape.reserve(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (const auto* text = sizes[i].get_ptr<const std::string*>()) {
      if (text->empty()) place.item(i).fail("the expression is empty");
      tensor.symbolic_shape.resize(sizes.size());
      tensor.symbolic_shape[i] = *text;
      tensor.shape.push_back(kDynamicSize);
    } else {
      tensor.shape.push_back(as_integer(sizes[i], place.item(i)));
    }
  }
}

template <class Read>
auto list_of(Read read) {
  return
      [read](const JsonValue& value, const Place& place) { return as_list_of(value, place, read); };
}

TensorMeta read_tensor(const JsonValue& value, const Place& place) {
  const ObjectReader members(
      value, place,
      {"name", "shape", "dtype", "producer_node", "producer_output_idx", "arg", "scalar",
       "expression", "mutates", "strides", "requires_grad"});
  TensorMeta tensor;
  tensor.name = members.get("name", as_string);
  read_shape(members.get("shape"), place.key("shape"), tensor);
  tensor.dtype = members.get("dtype", as_string);
  if (const JsonValue* producer = members.find("producer_node"); producer && !producer->is_null()) {
    tensor.producer_node = as_string(*producer, place.key("producer_node"));
  }
  members.find("producer_output_idx", as_integer, tensor.producer_output_idx);
  members.find("arg", as_string, tensor.arg);
  members.find("expression", as_string, tensor.expression);
  members.find("mutates", as_string, tensor.mutates);
  members.find("scalar", as_boolean, tensor.is_scalar);
  members.find("strides", list_of(as_integer), tensor.strides);
  members.find("requires_grad", as_boolean, tensor.requires_grad);
  return tensor;
}

const auto read_tensors = list_of(read_tensor);

ConstantOutput read_constant_output(const JsonValue& value, const Place& place) {
  const ObjectReader members(value, place, {"index", "value"});
  return {members.get("index", as_integer), members.get("value", read_plain_attribute)};
}

class GraphReader {
 public:
  // The members that IRs and the graphs of nodes have in common.
  void read(const ObjectReader& members, IRGraph& graph) {
    graph.graph_inputs = members.get("graph_inputs", read_tensors);
    graph.graph_outputs = members.get("graph_outputs", read_tensors);
    members.find("constant_outputs", list_of(read_constant_output), graph.constant_outputs);
    graph.nodes = members.get("nodes", list_of(std::bind_front(&GraphReader::read_node, this)));
  }

 private:
  OpNode read_node(const JsonValue& value, const Place& place) {
    const ObjectReader members(
        value, place, {"name", "op_type", "inputs", "outputs", "attrs", "graphs", "module"});
    OpNode node;
    node.name = members.get("name", as_string);
    node.op_type = members.get("op_type", as_string);
    node.inputs = members.get("inputs", read_tensors);
    node.outputs = members.get("outputs", read_tensors);
    if (const JsonValue* attrs = members.find("attrs")) {
      node.attrs = read_attributes(*attrs, place.key("attrs"), find_schema(node.op_type));
    }
    // The parser has limited their nesting.
    members.find("graphs", list_of(std::bind_front(&GraphReader::read_graph, this)), node.graphs);
    members.find("module", as_string, node.module);
    return node;
  }

  IRGraph read_graph(const JsonValue& value, const Place& place) {
    IRGraph graph;
    read(ObjectReader(value, place, {"graph_inputs", "graph_outputs", "constant_outputs", "nodes"}),
         graph);
    return graph;
  }

  const c10::FunctionSchema* find_schema(const std::string& op_type) {
    const auto [entry, is_new] = schemas_.try_emplace(op_type, nullptr);
    if (is_new) entry->second = torch_ir::find_schema(op_type);
    return entry->second;
  }

  std::unordered_map<std::string, const c10::FunctionSchema*> schemas_;
};

std::vector<SymbolRange> read_ranges(const JsonValue& value, const Place& place) {
  const auto read_limit = [](const JsonValue& limit, const Place& where) {
    return limit.is_null() ? std::nullopt : std::optional(as_integer(limit, where));
  };
  std::vector<SymbolRange> ranges;
  for (const auto& [expression, member] : as_object(value, place)) {
    const auto limits = as_list_of(member, place.key(expression), read_limit);
    if (limits.size() != 2) place.key(expression).fail("expected a list of two limits");
    ranges.push_back({expression, limits[0], limits[1]});
  }
  return ranges;
}

void check_format_version(const JsonValue& value, const Place& place) {
  const int64_t version = as_integer(value, place);
  if (version >= 1 && version <= kFormatVersion) return;
  place.fail("unsupported IR format version " + std::to_string(version) +
             ": this program reads versions 1 to " + std::to_string(kFormatVersion) +
             (version > kFormatVersion ? "; use a newer program" : ""));
}

void read_constants(const JsonValue& value, const Place& place, IR& ir) {
  std::unordered_map<std::string_view, const std::vector<int64_t>*> declared;
  for (const TensorMeta& weight : ir.weights) declared.emplace(weight.name, &weight.shape);
  for (const auto& [name, constant] : as_object(value, place)) {
    const auto shape = declared.find(name);
    ir.constants.insert(name, read_constant(constant, place.key(name),
                                            shape == declared.end() ? nullptr : shape->second));
  }
}

IR read_ir(const JsonValue& value) {
  const Place root;
  // First, so that a newer version is reported, not its unknown keys.
  for (const auto& [key, member] : as_object(value, root)) {
    if (key == kFormatVersionKey) check_format_version(member, root.key(key));
  }
  const ObjectReader members(
      value, root,
      {kFormatVersionKey, "model_name", "pytorch_version", "graph_inputs", "graph_outputs",
       "constant_outputs", "weights", "weight_name_mapping", "tied_weights", "state",
       "constant_inputs", "range_constraints", "guards", "nodes", "constants"});
  IR ir;
  members.find("model_name", as_string, ir.model_name);
  members.find("pytorch_version", as_string, ir.pytorch_version);
  GraphReader().read(members, ir);
  ir.weights = members.get("weights", read_tensors);
  if (const JsonValue* mapping = members.find("weight_name_mapping")) {
    const Place place = root.key("weight_name_mapping");
    for (const auto& [name, target] : as_object(*mapping, place)) {
      ir.weight_name_mapping.insert(name, as_string(target, place.key(name)));
    }
  }
  members.find("tied_weights", list_of(list_of(as_string)), ir.tied_weights);
  members.find("state", list_of(as_string), ir.state);
  if (const JsonValue* inputs = members.find("constant_inputs")) {
    ir.constant_inputs = read_attributes(*inputs, root.key("constant_inputs"), nullptr);
  }
  members.find("range_constraints", read_ranges, ir.range_constraints);
  members.find("guards", list_of(as_string), ir.guards);
  if (const JsonValue* constants = members.find("constants")) {
    read_constants(*constants, root.key("constants"), ir);
  }
  return ir;
}

// --- Writing ---

JsonValue to_json(const Attribute& attribute);
JsonValue to_json(const TensorMeta& tensor);
JsonValue to_json(const ConstantOutput& output);
JsonValue to_json(const OpNode& node);
JsonValue to_json(const IRGraph& graph);

template <class T>
JsonValue to_json(const std::vector<T>& items) {
  JsonValue::array_t list;
  list.reserve(items.size());
  for (const T& item : items) list.push_back(to_json(item));
  return list;
}

struct AttributeToJson {
  JsonValue operator()(std::monostate) const { return nullptr; }
  JsonValue operator()(bool value) const { return value; }
  JsonValue operator()(int64_t value) const { return value; }
  JsonValue operator()(double value) const { return value; }
  JsonValue operator()(std::complex<double> value) const {
    return JsonValue::array({value.real(), value.imag()});
  }
  JsonValue operator()(const std::string& value) const { return value; }
  JsonValue operator()(c10::ScalarType value) const { return dtype_name(value); }
  JsonValue operator()(c10::Layout value) const { return layout_name(value); }
  JsonValue operator()(c10::MemoryFormat value) const { return memory_format_name(value); }
  JsonValue operator()(c10::Device value) const { return value.str(); }
  JsonValue operator()(const ValueRef& value) const {
    return JsonValue::object({{"value", value.name}});
  }
  JsonValue operator()(const Opaque& value) const {
    return JsonValue::object({{"opaque", value.what}});
  }
  JsonValue operator()(const Attribute::List& items) const { return to_json(items); }
};

JsonValue to_json(const Attribute& attribute) {
  return std::visit(AttributeToJson(), attribute.value());
}

// Builds an object from its members. It reserves room for all of them, since growing copies them.
class ObjectWriter {
 public:
  explicit ObjectWriter(size_t max_size) { members_.reserve(max_size); }

  void add(std::string_view key, JsonValue value) { members_.emplace_back(key, std::move(value)); }
  void add_text(std::string_view key, const std::string& text) {
    if (!text.empty()) add(key, text);
  }
  JsonValue take() { return std::move(members_); }

 private:
  JsonValue::object_t members_;
};

JsonValue to_json(const AttributeMap& attributes) {
  ObjectWriter out(attributes.size());
  for (const auto& [name, value] : attributes) out.add(name, to_json(value));
  return out.take();
}

JsonValue to_json(const TensorMeta& tensor) {
  ObjectWriter out(10);
  out.add("name", tensor.name);
  JsonValue shape = tensor.shape;
  for (size_t i = 0; i < tensor.symbolic_shape.size(); ++i) {
    if (!tensor.symbolic_shape[i].empty()) shape[i] = tensor.symbolic_shape[i];
  }
  out.add("shape", std::move(shape));
  out.add("dtype", tensor.dtype);
  if (tensor.producer_node) out.add("producer_node", *tensor.producer_node);
  if (tensor.producer_node || tensor.producer_output_idx != 0) {
    out.add("producer_output_idx", tensor.producer_output_idx);
  }
  out.add_text("arg", tensor.arg);
  if (tensor.is_scalar) out.add("scalar", true);
  out.add_text("expression", tensor.expression);
  out.add_text("mutates", tensor.mutates);
  if (!tensor.strides.empty()) out.add("strides", tensor.strides);
  if (tensor.requires_grad) out.add("requires_grad", true);
  return out.take();
}

JsonValue to_json(const ConstantOutput& output) {
  return {{"index", output.index}, {"value", to_json(output.value)}};
}

void add_signature(const IRGraph& graph, ObjectWriter& out) {
  out.add("graph_inputs", to_json(graph.graph_inputs));
  out.add("graph_outputs", to_json(graph.graph_outputs));
  if (graph.constant_outputs.empty()) return;
  out.add("constant_outputs", to_json(graph.constant_outputs));
}

JsonValue to_json(const IRGraph& graph) {
  ObjectWriter out(4);
  add_signature(graph, out);
  out.add("nodes", to_json(graph.nodes));
  return out.take();
}

JsonValue to_json(const OpNode& node) {
  ObjectWriter out(7);
  out.add("name", node.name);
  out.add("op_type", node.op_type);
  out.add("inputs", to_json(node.inputs));
  out.add("outputs", to_json(node.outputs));
  out.add("attrs", to_json(node.attrs));
  if (!node.graphs.empty()) out.add("graphs", to_json(node.graphs));
  out.add_text("module", node.module);
  return out.take();
}

JsonValue to_json(const std::vector<SymbolRange>& ranges) {
  const auto limit = [](std::optional<int64_t> it) { return it ? JsonValue(*it) : JsonValue(); };
  ObjectWriter out(ranges.size());
  for (const SymbolRange& range : ranges) {
    out.add(range.expression, JsonValue::array({limit(range.min), limit(range.max)}));
  }
  return out.take();
}

bool is_version_1(const TensorMeta& tensor) {
  return !is_dynamic(tensor) && !tensor.is_scalar && tensor.mutates.empty();
}

bool are_version_1(const std::vector<TensorMeta>& tensors) {
  return std::ranges::all_of(tensors, is_version_1);
}

bool is_node_of_version_1(const OpNode& node) {
  return are_version_1(node.inputs) && are_version_1(node.outputs) && node.graphs.empty() &&
         std::ranges::all_of(node.attrs, [](const AttributeMap::Item& item) {
           return value_refs(item.second).empty() && item.second.get_if<Opaque>() == nullptr;
         });
}

bool is_ir_of_version_1(const IR& ir) {
  return are_version_1(ir.graph_inputs) && are_version_1(ir.graph_outputs) &&
         ir.constant_outputs.empty() && ir.constant_inputs.empty() &&
         ir.range_constraints.empty() && ir.guards.empty() &&
         std::ranges::all_of(ir.nodes, is_node_of_version_1);
}

JsonValue to_json(const IR& ir) {
  ObjectWriter out(15);
  if (!is_ir_of_version_1(ir)) out.add(kFormatVersionKey, kFormatVersion);
  out.add("model_name", ir.model_name);
  out.add("pytorch_version", ir.pytorch_version);
  add_signature(ir, out);
  out.add("weights", to_json(ir.weights));
  ObjectWriter mapping(ir.weight_name_mapping.size());
  for (const auto& item : ir.weight_name_mapping) mapping.add(item.key(), item.value());
  out.add("weight_name_mapping", mapping.take());
  if (!ir.tied_weights.empty()) out.add("tied_weights", ir.tied_weights);
  if (!ir.state.empty()) out.add("state", ir.state);
  if (!ir.constant_inputs.empty()) out.add("constant_inputs", to_json(ir.constant_inputs));
  if (!ir.range_constraints.empty()) out.add("range_constraints", to_json(ir.range_constraints));
  if (!ir.guards.empty()) out.add("guards", ir.guards);
  out.add("nodes", to_json(ir.nodes));
  if (!ir.constants.is_empty()) {
    ObjectWriter constants(ir.constants.size());
    for (const auto& item : ir.constants) {
      constants.add(item.key(), constant_to_json(item.key(), item.value()));
    }
    out.add("constants", constants.take());
  }
  return out.take();
}

}  // namespace

std::string serialize_ir(const IR& ir) { return python_json(to_json(ir)); }

IR deserialize_ir(std::string_view text) { return read_ir(parse_json(text)); }

Attribute untyped_form(const Attribute& attribute) {
  return read_plain_attribute(to_json(attribute), Place());
}

void save_ir(const IR& ir, const std::string& path) { write_file(path, serialize_ir(ir)); }

IR load_ir(const std::string& path) {
  // Before the whole file is read. A pipe has no beginning to look at.
  if (std::error_code ignored; std::filesystem::is_regular_file(path, ignored)) {
    const std::string what =
        describe_foreign_file(map_file(path).text(), "write a .pt2 archive with torch.export.save");
    if (!what.empty()) throw SerializationError(kNotSupported, path + ": " + what);
  }
  const std::string text = read_file(path);
  try {
    return deserialize_ir(text);
  } catch (const SerializationError& error) {
    throw SerializationError(error, path + ": " + error.what());
  }
}

void IR::save(const std::string& path) const { save_ir(*this, path); }
IR IR::load(const std::string& path) { return load_ir(path); }
std::string IR::to_json() const { return serialize_ir(*this); }
IR IR::from_json(std::string_view text) { return deserialize_ir(text); }

}  // namespace torch_ir
