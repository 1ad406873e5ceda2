#include "torch_ir/ir/json.h"

#include <ATen/core/function_schema.h>

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/ivalue.h"
#include "torch_ir/ir/json_constants.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"
#include "torch_ir/ir/json_writer.h"

namespace torch_ir {
namespace {

// A file without "format_version" has version 1, the format of the Python package.
constexpr int64_t kFormatVersion = 1;
constexpr std::string_view kFormatVersionKey = "format_version";

// --- Writing ---

struct AttributeWriter {
  JsonWriter& writer;

  void operator()(std::monostate) const { writer.null(); }
  void operator()(bool value) const { writer.boolean(value); }
  void operator()(int64_t value) const { writer.integer(value); }
  void operator()(double value) const { writer.floating(value); }
  void operator()(std::complex<double> value) const {
    writer.begin_list();
    writer.floating(value.real());
    writer.floating(value.imag());
    writer.end_list();
  }
  void operator()(const std::string& value) const { writer.string(value); }
  void operator()(c10::ScalarType value) const { writer.string(dtype_name(value)); }
  void operator()(c10::Layout value) const { writer.string(layout_name(value)); }
  void operator()(c10::MemoryFormat value) const { writer.string(memory_format_name(value)); }
  void operator()(c10::Device value) const { writer.string(value.str()); }
  void operator()(const ValueRef& value) const {
    writer.begin_object();
    writer.key("value");
    writer.string(value.name);
    writer.end_object();
  }
  void operator()(const Attribute::List& items) const {
    writer.begin_list();
    for (const Attribute& item : items) std::visit(*this, item.value());
    writer.end_list();
  }
};

void write_tensor(const TensorMeta& tensor, JsonWriter& writer) {
  writer.begin_object();
  writer.key("name");
  writer.string(tensor.name);
  writer.key("shape");
  writer.begin_list();
  for (const int64_t size : tensor.shape) writer.integer(size);
  writer.end_list();
  writer.key("dtype");
  writer.string(tensor.dtype);
  if (tensor.producer_node) {
    writer.key("producer_node");
    writer.string(*tensor.producer_node);
  }
  if (tensor.producer_node || tensor.producer_output_idx != 0) {
    writer.key("producer_output_idx");
    writer.integer(tensor.producer_output_idx);
  }
  if (!tensor.arg.empty()) {
    writer.key("arg");
    writer.string(tensor.arg);
  }
  writer.end_object();
}

void write_tensors(std::string_view key, const std::vector<TensorMeta>& tensors,
                   JsonWriter& writer) {
  writer.key(key);
  writer.begin_list();
  for (const TensorMeta& tensor : tensors) write_tensor(tensor, writer);
  writer.end_list();
}

void write_node(const OpNode& node, JsonWriter& writer) {
  writer.begin_object();
  writer.key("name");
  writer.string(node.name);
  writer.key("op_type");
  writer.string(node.op_type);
  write_tensors("inputs", node.inputs, writer);
  write_tensors("outputs", node.outputs, writer);
  writer.key("attrs");
  writer.begin_object();
  for (const auto& [name, value] : node.attrs) {
    writer.key(name);
    std::visit(AttributeWriter{writer}, value.value());
  }
  writer.end_object();
  writer.end_object();
}

void write_ir(const IR& ir, JsonWriter& writer) {
  writer.begin_object();
  writer.key("model_name");
  writer.string(ir.model_name);
  writer.key("pytorch_version");
  writer.string(ir.pytorch_version);
  write_tensors("graph_inputs", ir.graph_inputs, writer);
  write_tensors("graph_outputs", ir.graph_outputs, writer);
  write_tensors("weights", ir.weights, writer);
  writer.key("weight_name_mapping");
  writer.begin_object();
  for (const auto& item : ir.weight_name_mapping) {
    writer.key(item.key());
    writer.string(item.value());
  }
  writer.end_object();
  writer.key("nodes");
  writer.begin_list();
  for (const OpNode& node : ir.nodes) write_node(node, writer);
  writer.end_list();
  if (!ir.constants.is_empty()) {
    writer.key("constants");
    writer.begin_object();
    for (const auto& item : ir.constants) {
      writer.key(item.key());
      write_constant(item.key(), item.value(), writer);
    }
    writer.end_object();
  }
  writer.end_object();
}

// --- Reading ---

Attribute read_plain_attribute(JsonValue& value, const Place& place) {
  if (value.is_null()) return {};
  if (const auto* boolean = value.get_if<bool>()) return *boolean;
  if (const auto* integer = value.get_if<int64_t>()) return *integer;
  if (const auto* number = value.get_if<double>()) return *number;
  if (auto* text = value.get_if<std::string>()) return std::move(*text);
  auto* items = value.get_if<JsonValue::List>();
  if (items == nullptr) place.fail("a value or a list of values", value);
  Attribute::List list;
  list.reserve(items->size());
  for (size_t i = 0; i < items->size(); ++i) {
    list.push_back(read_plain_attribute((*items)[i], place.item(i)));
  }
  return list;
}

TensorMeta read_tensor(JsonValue& value, const Place& place) {
  const ObjectReader members(
      value, place, {"name", "shape", "dtype", "producer_node", "producer_output_idx", "arg"});
  TensorMeta tensor;
  tensor.name = take_string(members.get("name"), place.key("name"));
  tensor.shape = as_integers(members.get("shape"), place.key("shape"));
  tensor.dtype = take_string(members.get("dtype"), place.key("dtype"));
  if (JsonValue* producer = members.find("producer_node"); producer && !producer->is_null()) {
    tensor.producer_node = take_string(*producer, place.key("producer_node"));
  }
  if (const JsonValue* index = members.find("producer_output_idx")) {
    tensor.producer_output_idx = as_integer(*index, place.key("producer_output_idx"));
  }
  if (JsonValue* arg = members.find("arg")) tensor.arg = take_string(*arg, place.key("arg"));
  return tensor;
}

std::vector<TensorMeta> read_tensors(JsonValue& value, const Place& place) {
  JsonValue::List& items = as_list(value, place);
  std::vector<TensorMeta> tensors;
  tensors.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    tensors.push_back(read_tensor(items[i], place.item(i)));
  }
  return tensors;
}

// Reads nodes; looks each operator up once.
class NodeReader {
 public:
  OpNode read(JsonValue& value, const Place& place) {
    const ObjectReader members(value, place, {"name", "op_type", "inputs", "outputs", "attrs"});
    OpNode node;
    node.name = take_string(members.get("name"), place.key("name"));
    node.op_type = take_string(members.get("op_type"), place.key("op_type"));
    node.inputs = read_tensors(members.get("inputs"), place.key("inputs"));
    node.outputs = read_tensors(members.get("outputs"), place.key("outputs"));
    if (JsonValue* attrs = members.find("attrs")) {
      node.attrs = read_attributes(*attrs, find_schema(node.op_type), place.key("attrs"));
    }
    return node;
  }

 private:
  // Null for an operator that this process does not know.
  const c10::FunctionSchema* find_schema(const std::string& op_type) {
    const auto [entry, is_new] = schemas_.try_emplace(op_type, nullptr);
    if (is_new) {
      if (const auto op = find_operator(op_type)) entry->second = &op->schema();
    }
    return entry->second;
  }

  static AttributeMap read_attributes(JsonValue& value, const c10::FunctionSchema* schema,
                                      const Place& place) {
    std::vector<AttributeMap::Item> items;
    JsonValue::Object& members = as_object(value, place);
    items.reserve(members.size());
    for (auto& [name, member] : members) {
      Attribute attribute = read_plain_attribute(member, place.key(name));
      const auto index = schema ? schema->argumentIndexWithName(name) : std::nullopt;
      if (index) {
        attribute = with_argument_type(std::move(attribute),
                                       schema->arguments()[static_cast<size_t>(*index)]);
      }
      items.emplace_back(std::move(name), std::move(attribute));
    }
    return AttributeMap(std::move(items));
  }

  std::unordered_map<std::string, const c10::FunctionSchema*> schemas_;
};

std::vector<OpNode> read_nodes(JsonValue& value, const Place& place) {
  JsonValue::List& items = as_list(value, place);
  std::vector<OpNode> nodes;
  nodes.reserve(items.size());
  NodeReader reader;
  for (size_t i = 0; i < items.size(); ++i) nodes.push_back(reader.read(items[i], place.item(i)));
  return nodes;
}

void check_format_version(const JsonValue& value, const Place& place) {
  const int64_t version = as_integer(value, place);
  if (version == kFormatVersion) return;
  place.fail("the file has version " + std::to_string(version) + " of the IR format, this " +
             "program reads version " + std::to_string(kFormatVersion) +
             (version > kFormatVersion ? "; read it with a newer program" : ""));
}

IR read_ir(JsonValue& value) {
  const Place root;
  // First, since what a later version brings would be an unknown key.
  for (const auto& [key, member] : as_object(value, root)) {
    if (key == kFormatVersionKey) check_format_version(member, root.key(key));
  }
  const ObjectReader members(
      value, root,
      {kFormatVersionKey, "model_name", "pytorch_version", "graph_inputs", "graph_outputs",
       "weights", "weight_name_mapping", "nodes", "constants"});
  IR ir;
  const auto read_string = [&](std::string_view key) {
    JsonValue* text = members.find(key);
    return text == nullptr ? std::string() : take_string(*text, root.key(key));
  };
  ir.model_name = read_string("model_name");
  ir.pytorch_version = read_string("pytorch_version");
  ir.graph_inputs = read_tensors(members.get("graph_inputs"), root.key("graph_inputs"));
  ir.graph_outputs = read_tensors(members.get("graph_outputs"), root.key("graph_outputs"));
  ir.weights = read_tensors(members.get("weights"), root.key("weights"));
  if (JsonValue* mapping = members.find("weight_name_mapping")) {
    const Place place = root.key("weight_name_mapping");
    for (auto& [name, target] : as_object(*mapping, place)) {
      ir.weight_name_mapping.insert(name, take_string(target, place.key(name)));
    }
  }
  ir.nodes = read_nodes(members.get("nodes"), root.key("nodes"));
  if (JsonValue* constants = members.find("constants")) {
    const Place place = root.key("constants");
    for (auto& [name, constant] : as_object(*constants, place)) {
      ir.constants.insert(name, read_constant(constant, place.key(name)));
    }
  }
  return ir;
}

}  // namespace

std::string serialize_ir(const IR& ir) {
  JsonWriter writer;
  write_ir(ir, writer);
  return writer.take();
}

IR deserialize_ir(std::string_view text) {
  JsonValue value = parse_json(text);
  return read_ir(value);
}

void save_ir(const IR& ir, const std::string& path) { write_file(path, serialize_ir(ir)); }

IR load_ir(const std::string& path) {
  const std::string text = read_file(path);
  try {
    return deserialize_ir(text);
  } catch (const SerializationError& error) {
    throw SerializationError(path + ": " + error.what());
  }
}

void IR::save(const std::string& path) const { save_ir(*this, path); }
IR IR::load(const std::string& path) { return load_ir(path); }
std::string IR::to_json() const { return serialize_ir(*this); }
IR IR::from_json(std::string_view text) { return deserialize_ir(text); }

}  // namespace torch_ir
