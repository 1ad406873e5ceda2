#include "torch_ir/exporter/pt2/read_graph.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/arguments.h"
#include "torch_ir/exporter/pt2/json_fields.h"
#include "torch_ir/exporter/pt2/value_meta.h"

namespace torch_ir {
namespace {

// The class of the outermost module in "L__self__,,models.ResNet;L__self___conv1,conv1,...".
std::string root_class(const std::string& module_stack) {
  const std::string_view first = std::string_view(module_stack).substr(0, module_stack.find(';'));
  const size_t path_begin = first.find(',');
  if (path_begin == std::string_view::npos) return {};
  const size_t class_begin = first.find(',', path_begin + 1);
  const bool is_root = class_begin == path_begin + 1;
  return is_root ? std::string(first.substr(class_begin + 1)) : std::string();
}

std::string read_root_class(const Fields& node) {
  const JsonValue* metadata = node.find("metadata");
  if (metadata == nullptr || metadata->get_if<JsonValue::Object>() == nullptr) return {};
  const Place place = node.place().key("metadata");
  const JsonValue* stack = Fields(*metadata, place).find("nn_module_stack");
  const auto* text = stack == nullptr ? nullptr : stack->get_if<std::string>();
  return text == nullptr ? std::string() : root_class(*text);
}

SerializedArgument read_named_argument(const JsonValue& value, const Place& place) {
  const Fields fields(value, place);
  const JsonValue* name = fields.find("name");
  return {name == nullptr ? std::string() : read_string(*name, place.key("name")),
          read_argument(fields.get("arg"), place.key("arg"))};
}

SerializedNode read_node(const JsonValue& value, const Place& place) {
  const Fields fields(value, place);
  SerializedNode node;
  node.target = read_string(fields.get("target"), place.key("target"));
  const Place inputs_place = place.key("inputs");
  const JsonValue::List& inputs = read_list(fields.get("inputs"), inputs_place);
  for (size_t i = 0; i < inputs.size(); ++i) {
    node.arguments.push_back(read_named_argument(inputs[i], inputs_place.item(i)));
  }
  const Place outputs_place = place.key("outputs");
  const JsonValue::List& outputs = read_list(fields.get("outputs"), outputs_place);
  for (size_t i = 0; i < outputs.size(); ++i) {
    read_node_output(outputs[i], outputs_place.item(i), node.outputs);
  }
  if (const JsonValue* name = fields.find("name")) {
    node.name = read_string(*name, place.key("name"));
  }
  node.root_class = read_root_class(fields);
  return node;
}

std::vector<SerializedPort> read_ports(const JsonValue& value, const Place& place) {
  const JsonValue::List& items = read_list(value, place);
  std::vector<SerializedPort> ports;
  for (size_t i = 0; i < items.size(); ++i) ports.push_back(read_port(items[i], place.item(i)));
  return ports;
}

using MetaReader = ValueMeta (*)(const JsonValue& value, const Place& place);

constexpr std::pair<std::string_view, MetaReader> kValueTables[] = {
    {"tensor_values", read_tensor_meta},
    {"sym_int_values", read_sym_int_meta},
    {"sym_float_values", read_sym_float_meta},
    {"sym_bool_values", read_sym_bool_meta},
};

void read_values(const Fields& fields, SerializedGraph& graph) {
  for (const auto& [key, read_meta] : kValueTables) {
    const JsonValue* table = fields.find(key);
    if (table == nullptr) continue;
    const Place place = fields.place().key(key);
    for (const auto& [name, meta] : read_object(*table, place)) {
      const std::string shown = printable(name);
      const Place meta_place = place.key(shown);
      if (!graph.values.emplace(name, read_meta(meta, meta_place)).second) {
        meta_place.fail("the value is in another table too");
      }
    }
  }
}

}  // namespace

SerializedGraph read_graph(const JsonValue& value, const Place& place) {
  const Fields fields(value, place);
  SerializedGraph graph;
  graph.inputs = read_ports(fields.get("inputs"), place.key("inputs"));
  const Place nodes_place = place.key("nodes");
  const JsonValue::List& nodes = read_list(fields.get("nodes"), nodes_place);
  graph.nodes.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    graph.nodes.push_back(read_node(nodes[i], nodes_place.item(i)));
  }
  graph.outputs = read_ports(fields.get("outputs"), place.key("outputs"));
  read_values(fields, graph);
  return graph;
}

}  // namespace torch_ir
