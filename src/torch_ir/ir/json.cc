#include "torch_ir/ir/json.h"

#include <ATen/core/function_schema.h>

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/ivalue.h"
#include "torch_ir/ir/json_constants.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {
namespace {

// A file without "format_version" has version 1, the format of the Python package.
constexpr int64_t kFormatVersion = 2;
constexpr std::string_view kFormatVersionKey = "format_version";

Attribute read_plain_attribute(JsonValue& value, const Place& place) {
  if (value.is_null()) return {};
  if (const auto* boolean = value.get_if<bool>()) return *boolean;
  if (const auto* integer = value.get_if<int64_t>()) return *integer;
  if (const auto* number = value.get_if<double>()) return *number;
  if (auto* text = value.get_if<std::string>()) return std::move(*text);
  if (value.get_if<JsonValue::Object>() != nullptr) {
    const ObjectReader members(value, place, {"value"});
    return ValueRef{take_string(members.get("value"), place.key("value"))};
  }
  auto* items = value.get_if<JsonValue::List>();
  if (items == nullptr) place.fail("a value or a list of values", value);
  Attribute::List list;
  list.reserve(items->size());
  for (size_t i = 0; i < items->size(); ++i) {
    list.push_back(read_plain_attribute((*items)[i], place.item(i)));
  }
  return list;
}

// Sizes are integers, or expressions of symbols.
void read_shape(JsonValue& value, const Place& place, TensorMeta& tensor) {
  JsonValue::List& sizes = as_list(value, place);
  tensor.shape.reserve(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (auto* text = sizes[i].get_if<std::string>()) {
      tensor.symbolic_shape.resize(sizes.size());
      tensor.symbolic_shape[i] = std::move(*text);
      if (tensor.symbolic_shape[i].empty()) place.item(i).fail("an expression is empty");
      tensor.shape.push_back(kDynamicSize);
    } else {
      tensor.shape.push_back(as_integer(sizes[i], place.item(i)));
    }
  }
}

TensorMeta read_tensor(JsonValue& value, const Place& place) {
  const ObjectReader members(value, place,
                             {"name", "shape", "dtype", "producer_node", "producer_output_idx",
                              "arg", "scalar", "expression", "mutates"});
  TensorMeta tensor;
  tensor.name = take_string(members.get("name"), place.key("name"));
  read_shape(members.get("shape"), place.key("shape"), tensor);
  tensor.dtype = take_string(members.get("dtype"), place.key("dtype"));
  if (JsonValue* producer = members.find("producer_node"); producer && !producer->is_null()) {
    tensor.producer_node = take_string(*producer, place.key("producer_node"));
  }
  if (const JsonValue* index = members.find("producer_output_idx")) {
    tensor.producer_output_idx = as_integer(*index, place.key("producer_output_idx"));
  }
  const auto read_text = [&](std::string_view key, std::string& text) {
    if (JsonValue* member = members.find(key)) text = take_string(*member, place.key(key));
  };
  read_text("arg", tensor.arg);
  read_text("expression", tensor.expression);
  read_text("mutates", tensor.mutates);
  if (const JsonValue* scalar = members.find("scalar")) {
    tensor.is_scalar = as_boolean(*scalar, place.key("scalar"));
  }
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

AttributeMap read_plain_attributes(JsonValue& value, const Place& place) {
  std::vector<AttributeMap::Item> items;
  for (auto& [name, member] : as_object(value, place)) {
    items.emplace_back(name, read_plain_attribute(member, place.key(name)));
  }
  return AttributeMap(std::move(items));
}

// Reads graphs; looks each operator up once.
class GraphReader {
 public:
  // The members that IRs and the graphs of nodes have in common.
  void read(const ObjectReader& members, const Place& place, Graph& graph) {
    graph.graph_inputs = read_tensors(members.get("graph_inputs"), place.key("graph_inputs"));
    graph.graph_outputs = read_tensors(members.get("graph_outputs"), place.key("graph_outputs"));
    if (JsonValue* outputs = members.find("constant_outputs")) {
      read_constant_outputs(*outputs, place.key("constant_outputs"), graph);
    }
    const Place nodes_place = place.key("nodes");
    JsonValue::List& nodes = as_list(members.get("nodes"), nodes_place);
    graph.nodes.reserve(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      graph.nodes.push_back(read_node(nodes[i], nodes_place.item(i)));
    }
  }

 private:
  static void read_constant_outputs(JsonValue& value, const Place& place, Graph& graph) {
    JsonValue::List& items = as_list(value, place);
    for (size_t i = 0; i < items.size(); ++i) {
      const Place item = place.item(i);
      const ObjectReader members(items[i], item, {"index", "value"});
      graph.constant_outputs.push_back(
          {as_integer(members.get("index"), item.key("index")),
           read_plain_attribute(members.get("value"), item.key("value"))});
    }
  }

  OpNode read_node(JsonValue& value, const Place& place) {
    const ObjectReader members(value, place,
                               {"name", "op_type", "inputs", "outputs", "attrs", "graphs"});
    OpNode node;
    node.name = take_string(members.get("name"), place.key("name"));
    node.op_type = take_string(members.get("op_type"), place.key("op_type"));
    node.inputs = read_tensors(members.get("inputs"), place.key("inputs"));
    node.outputs = read_tensors(members.get("outputs"), place.key("outputs"));
    if (JsonValue* attrs = members.find("attrs")) {
      node.attrs = read_attributes(*attrs, find_schema(node.op_type), place.key("attrs"));
    }
    if (JsonValue* graphs = members.find("graphs")) {
      read_graphs(*graphs, place.key("graphs"), node.graphs);
    }
    return node;
  }

  // The parser has bounded how deep they lie in one another.
  void read_graphs(JsonValue& value, const Place& place, std::vector<Graph>& graphs) {
    JsonValue::List& items = as_list(value, place);
    for (size_t i = 0; i < items.size(); ++i) {
      const Place item = place.item(i);
      const ObjectReader members(items[i], item,
                                 {"graph_inputs", "graph_outputs", "constant_outputs", "nodes"});
      read(members, item, graphs.emplace_back());
    }
  }

  // Null for an operator that this process does not know.
  const c10::FunctionSchema* find_schema(const std::string& op_type) {
    const auto [entry, is_new] = schemas_.try_emplace(op_type, nullptr);
    if (is_new) {
      entry->second = torch_ir::find_schema(op_type);
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

std::vector<SymbolRange> read_ranges(JsonValue& value, const Place& place) {
  const auto read_limit = [](const JsonValue& limit, const Place& where) {
    return limit.is_null() ? std::nullopt : std::optional(as_integer(limit, where));
  };
  std::vector<SymbolRange> ranges;
  for (auto& [expression, member] : as_object(value, place)) {
    const Place item = place.key(expression);
    const JsonValue::List& limits = as_list(member, item);
    if (limits.size() != 2) item.fail("a range is a list of two limits");
    ranges.push_back(
        {expression, read_limit(limits[0], item.item(0)), read_limit(limits[1], item.item(1))});
  }
  return ranges;
}

void check_format_version(const JsonValue& value, const Place& place) {
  const int64_t version = as_integer(value, place);
  if (version >= 1 && version <= kFormatVersion) return;
  place.fail("the file has version " + std::to_string(version) + " of the IR format, this " +
             "program reads versions 1 to " + std::to_string(kFormatVersion) +
             (version > kFormatVersion ? "; read it with a newer program" : ""));
}

IR read_ir(JsonValue& value) {
  const Place root;
  // First, since what a later version brings would be an unknown key.
  for (const auto& [key, member] : as_object(value, root)) {
    if (key == kFormatVersionKey) check_format_version(member, root.key(key));
  }
  const ObjectReader members(value, root,
                             {kFormatVersionKey, "model_name", "pytorch_version", "graph_inputs",
                              "graph_outputs", "constant_outputs", "weights", "weight_name_mapping",
                              "constant_inputs", "range_constraints", "nodes", "constants"});
  IR ir;
  const auto read_string = [&](std::string_view key) {
    JsonValue* text = members.find(key);
    return text == nullptr ? std::string() : take_string(*text, root.key(key));
  };
  ir.model_name = read_string("model_name");
  ir.pytorch_version = read_string("pytorch_version");
  GraphReader().read(members, root, ir);
  ir.weights = read_tensors(members.get("weights"), root.key("weights"));
  if (JsonValue* mapping = members.find("weight_name_mapping")) {
    const Place place = root.key("weight_name_mapping");
    for (auto& [name, target] : as_object(*mapping, place)) {
      ir.weight_name_mapping.insert(name, take_string(target, place.key(name)));
    }
  }
  if (JsonValue* inputs = members.find("constant_inputs")) {
    ir.constant_inputs = read_plain_attributes(*inputs, root.key("constant_inputs"));
  }
  if (JsonValue* ranges = members.find("range_constraints")) {
    ir.range_constraints = read_ranges(*ranges, root.key("range_constraints"));
  }
  if (JsonValue* constants = members.find("constants")) {
    const Place place = root.key("constants");
    for (auto& [name, constant] : as_object(*constants, place)) {
      ir.constants.insert(name, read_constant(constant, place.key(name)));
    }
  }
  return ir;
}

}  // namespace

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
