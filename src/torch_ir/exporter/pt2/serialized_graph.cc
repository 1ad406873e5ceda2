#include "torch_ir/exporter/pt2/serialized_graph.h"

#include <fmt/format.h>

#include <complex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/value_meta.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {
namespace {

// --- Arguments: {"as_tensor": {"name": "x"}}, {"as_ints": [1, 2]}, ... ---
//
// One table says how each kind of the schema (torch/_export/serde/schema.py) is read. A kind that
// is not in it is an error.

using Reader = SerializedValue (*)(const JsonValue& value, const Place& place);

SerializedValue read_none(const JsonValue&, const Place&) { return Attribute(); }

SerializedValue read_tensor(const JsonValue& value, const Place& place) {
  return Attribute(ValueRef{read_name(value, place)});
}

SerializedValue read_tensors(const JsonValue& value, const Place& place) {
  return as_list_of(value, place, [](const JsonValue& item, const Place& item_place) {
    return std::optional(ValueRef{read_name(item, item_place)});
  });
}

std::optional<ValueRef> read_optional_item(const JsonValue& value, const Place& place) {
  const TaggedValue item = as_tagged(value, place);
  if (item.tag == "as_none") return std::nullopt;
  if (item.tag == "as_tensor") return ValueRef{read_name(item.value, place.key("as_tensor"))};
  place.fail(fmt::format("a list of optional tensors has the kind '{}'", printable(item.tag)));
}

SerializedValue read_optional_tensors(const JsonValue& value, const Place& place) {
  return as_list_of(value, place, read_optional_item);
}

SerializedValue read_optional_tensor(const JsonValue& value, const Place& place) {
  const auto tensor = read_optional_item(value, place);
  return tensor ? Attribute(*tensor) : Attribute();
}

// A number: fixed, or a value of the graph.
template <auto read_fixed>
Attribute symbolic(const JsonValue& value, const Place& place) {
  const TaggedValue item = as_tagged(value, place);
  if (item.tag == "as_name") return ValueRef{as_string(item.value, place.key("as_name"))};
  if (item.tag == "as_int" || item.tag == "as_float" || item.tag == "as_bool") {
    return read_fixed(item.value, place.key(item.tag));
  }
  place.fail(fmt::format("a number has the unknown kind '{}'", printable(item.tag)));
}

template <auto read_item>
SerializedValue one(const JsonValue& value, const Place& place) {
  return Attribute(read_item(value, place));
}

template <auto read_item>
Attribute list(const JsonValue& value, const Place& place) {
  return as_list_of(value, place, [](const JsonValue& item, const Place& item_place) -> Attribute {
    return read_item(item, item_place);
  });
}

Attribute complex_number(const JsonValue& value, const Place& place) {
  const ObjectReader fields(value, place);
  return std::complex<double>(fields.get("real", as_float), fields.get("imag", as_float));
}

SerializedValue read_subgraph(const JsonValue& value, const Place& place) {
  const ObjectReader fields(value, place);
  return std::make_shared<const SerializedGraph>(fields.get("graph", read_graph));
}

SerializedValue read_operator(const JsonValue& value, const Place& place) {
  return OperatorTarget{as_string(value, place)};
}

SerializedValue read_custom_object(const JsonValue& value, const Place& place) {
  const ObjectReader fields(value, place);
  return UnsupportedArgument{
      fmt::format("an object of the class '{}'",
                  printable(fields.get_or("class_fqn", std::string(), as_string)))};
}

SerializedValue read_nested_tensors(const JsonValue&, const Place&) {
  return UnsupportedArgument{"a list of lists of tensors"};
}

SerializedValue read_dict(const JsonValue&, const Place&) { return UnsupportedArgument{"a dict"}; }

const std::unordered_map<std::string_view, Reader>& readers() {
  static const std::unordered_map<std::string_view, Reader> table = {
      {"as_none", read_none},
      {"as_tensor", read_tensor},
      {"as_tensors", read_tensors},
      {"as_optional_tensor", read_optional_tensor},
      {"as_optional_tensors", read_optional_tensors},
      {"as_nested_tensors", read_nested_tensors},
      {"as_int", one<as_integer>},
      {"as_ints", one<list<as_integer>>},
      {"as_int_lists", one<list<list<as_integer>>>},
      {"as_float", one<as_float>},
      {"as_floats", one<list<as_float>>},
      {"as_float_lists", one<list<list<as_float>>>},
      {"as_bool", one<as_boolean>},
      {"as_bools", one<list<as_boolean>>},
      {"as_string", one<as_string>},
      {"as_strings", one<list<as_string>>},
      {"as_complex", one<complex_number>},
      {"as_sym_int", one<symbolic<as_integer>>},
      {"as_sym_ints", one<list<symbolic<as_integer>>>},
      {"as_sym_float", one<symbolic<as_float>>},
      {"as_sym_floats", one<list<symbolic<as_float>>>},
      {"as_sym_bool", one<symbolic<as_boolean>>},
      {"as_sym_bools", one<list<symbolic<as_boolean>>>},
      {"as_scalar_type", one<read_dtype>},
      {"as_layout", one<read_layout>},
      {"as_memory_format", one<read_memory_format>},
      {"as_device", one<read_device>},
      {"as_graph", read_subgraph},
      {"as_operator", read_operator},
      {"as_custom_obj", read_custom_object},
      {"as_string_to_argument", read_dict},
  };
  return table;
}

SerializedValue read_argument(const JsonValue& value, const Place& place) {
  const TaggedValue argument = as_tagged(value, place);
  const auto reader = readers().find(argument.tag);
  if (reader == readers().end()) {
    place.fail(fmt::format("unknown kind of argument '{}'", printable(argument.tag)));
  }
  return reader->second(argument.value, place.key(reader->first));
}

// Adds the names that an output of a node gives to values: one, one for each member of a list, or
// nothing for None.
void read_node_output(const JsonValue& value, const Place& place,
                      std::vector<std::optional<std::string>>& names) {
  const SerializedValue argument = read_argument(value, place);
  if (const std::string* name = referred_name(argument)) {
    names.emplace_back(*name);
    return;
  }
  if (const auto* list = std::get_if<ValueList>(&argument)) {
    for (const auto& item : *list) {
      names.push_back(item ? std::optional(item->name) : std::nullopt);
    }
    return;
  }
  const auto* attribute = std::get_if<Attribute>(&argument);
  if (attribute == nullptr) place.fail("expected a value, found what no operator makes");
  if (attribute->is_none()) {
    names.emplace_back(std::nullopt);
    return;
  }
  const std::vector<std::string> refs = value_refs(*attribute);
  const auto* items = attribute->get_if<Attribute::List>();
  if (items == nullptr || refs.size() != items->size()) {
    place.fail("expected the name of a value, found a fixed value");
  }
  names.insert(names.end(), refs.begin(), refs.end());
}

// --- Nodes and graphs ---

// The class of the outermost module in "L__self__,,models.ResNet;L__self___conv1,conv1,...".
std::string root_class(const std::string& module_stack) {
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

SerializedArgument read_named_argument(const JsonValue& value, const Place& place) {
  const ObjectReader fields(value, place);
  return {fields.get_or("name", std::string(), as_string), fields.get("arg", read_argument)};
}

SerializedNode read_node(const JsonValue& value, const Place& place) {
  const ObjectReader fields(value, place);
  SerializedNode node;
  node.target = fields.get("target", as_string);
  node.arguments = fields.get_list("inputs", read_named_argument);
  const Place outputs_place = place.key("outputs");
  const JsonValue::array_t& outputs = as_list(fields.get("outputs"), outputs_place);
  for (size_t i = 0; i < outputs.size(); ++i) {
    read_node_output(outputs[i], outputs_place.item(i), node.outputs);
  }
  node.name = fields.get_or("name", std::string(), as_string);
  const std::string module_stack = read_metadata(fields, "nn_module_stack");
  node.root_class = root_class(module_stack);
  node.origin = {.module = module_path(module_stack),
                 .source = source_line(read_metadata(fields, "stack_trace"))};
  return node;
}

using MetaReader = ValueMeta (*)(const JsonValue& value, const Place& place);

constexpr std::pair<std::string_view, MetaReader> kValueTables[] = {
    {"tensor_values", read_tensor_meta},
    {"sym_int_values", read_sym_int_meta},
    {"sym_float_values", read_sym_float_meta},
    {"sym_bool_values", read_sym_bool_meta},
};

void read_values(const ObjectReader& fields, SerializedGraph& graph) {
  for (const auto& [key, read_meta] : kValueTables) {
    const JsonValue* table = fields.find(key);
    if (table == nullptr) continue;
    const Place place = fields.place().key(key);
    for (const auto& [name, meta] : as_object(*table, place)) {
      const std::string shown = printable(name);
      const Place meta_place = place.key(shown);
      if (!graph.values.emplace(name, read_meta(meta, meta_place)).second) {
        meta_place.fail("the value is in another table too");
      }
    }
  }
}

}  // namespace

std::string read_name(const JsonValue& value, const Place& place) {
  const ObjectReader fields(value, place);
  return fields.get("name", as_string);
}

SerializedValue read_port(const JsonValue& value, const Place& place) {
  SerializedValue argument = read_argument(value, place);
  const auto* attribute = std::get_if<Attribute>(&argument);
  const bool is_one = attribute != nullptr && attribute->get_if<Attribute::List>() == nullptr;
  if (!is_one && std::get_if<UnsupportedArgument>(&argument) == nullptr) {
    place.fail("expected one value, found a list, a graph or an operator");
  }
  return argument;
}

const std::string* referred_name(const SerializedValue& value) {
  const auto* attribute = std::get_if<Attribute>(&value);
  const auto* ref = attribute == nullptr ? nullptr : attribute->get_if<ValueRef>();
  return ref == nullptr ? nullptr : &ref->name;
}

SerializedGraph read_graph(const JsonValue& value, const Place& place) {
  const ObjectReader fields(value, place);
  SerializedGraph graph;
  graph.inputs = fields.get_list("inputs", read_port);
  graph.nodes = fields.get_list("nodes", read_node);
  graph.outputs = fields.get_list("outputs", read_port);
  read_values(fields, graph);
  return graph;
}

}  // namespace torch_ir
