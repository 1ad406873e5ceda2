#include "torch_ir/exporter/pt2/arguments.h"

#include <fmt/format.h>

#include <complex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/json_fields.h"
#include "torch_ir/exporter/pt2/read_graph.h"
#include "torch_ir/exporter/pt2/schema_numbers.h"

namespace torch_ir {
namespace {

using Reader = SerializedValue (*)(const JsonValue& value, const Place& place);

SerializedValue read_none(const JsonValue&, const Place&) { return Attribute(); }

SerializedValue read_tensor(const JsonValue& value, const Place& place) {
  return ValueRef{read_name(value, place)};
}

SerializedValue read_tensors(const JsonValue& value, const Place& place) {
  const JsonValue::List& items = read_list(value, place);
  ValueList tensors;
  for (size_t i = 0; i < items.size(); ++i) {
    tensors.push_back(ValueRef{read_name(items[i], place.item(i))});
  }
  return tensors;
}

std::optional<ValueRef> read_optional_item(const JsonValue& value, const Place& place) {
  const Union item = read_union(value, place);
  if (item.kind == "as_none") return std::nullopt;
  if (item.kind == "as_tensor") return ValueRef{read_name(item.value, place.key("as_tensor"))};
  place.fail(fmt::format("a list of optional tensors has the kind '{}'", printable(item.kind)));
}

SerializedValue read_optional_tensors(const JsonValue& value, const Place& place) {
  const JsonValue::List& items = read_list(value, place);
  ValueList tensors;
  for (size_t i = 0; i < items.size(); ++i) {
    tensors.push_back(read_optional_item(items[i], place.item(i)));
  }
  return tensors;
}

SerializedValue read_optional_tensor(const JsonValue& value, const Place& place) {
  const auto tensor = read_optional_item(value, place);
  if (!tensor) return Attribute();
  return *tensor;
}

Attribute integer(const JsonValue& value, const Place& place) { return as_integer(value, place); }
Attribute real(const JsonValue& value, const Place& place) { return read_float(value, place); }
Attribute text(const JsonValue& value, const Place& place) { return read_string(value, place); }
Attribute boolean(const JsonValue& value, const Place& place) { return read_bool(value, place); }

// A number: fixed, or a value of the graph.
template <Attribute (*read_fixed)(const JsonValue&, const Place&)>
Attribute symbolic(const JsonValue& value, const Place& place) {
  const Union item = read_union(value, place);
  if (item.kind == "as_name") return ValueRef{read_string(item.value, place.key("as_name"))};
  if (item.kind == "as_int" || item.kind == "as_float" || item.kind == "as_bool") {
    return read_fixed(item.value, place.key(item.kind));
  }
  place.fail(fmt::format("a number has the unknown kind '{}'", printable(item.kind)));
}

template <Attribute (*read_item)(const JsonValue&, const Place&)>
SerializedValue one(const JsonValue& value, const Place& place) {
  return read_item(value, place);
}

template <Attribute (*read_item)(const JsonValue&, const Place&)>
Attribute list(const JsonValue& value, const Place& place) {
  const JsonValue::List& items = read_list(value, place);
  Attribute::List attributes;
  attributes.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    attributes.push_back(read_item(items[i], place.item(i)));
  }
  return attributes;
}

Attribute complex_number(const JsonValue& value, const Place& place) {
  const Fields fields(value, place);
  return std::complex<double>(read_float(fields.get("real"), place.key("real")),
                              read_float(fields.get("imag"), place.key("imag")));
}

Attribute dtype(const JsonValue& value, const Place& place) { return read_dtype(value, place); }
Attribute layout(const JsonValue& value, const Place& place) { return read_layout(value, place); }
Attribute memory_format(const JsonValue& value, const Place& place) {
  return read_memory_format(value, place);
}
Attribute device(const JsonValue& value, const Place& place) { return read_device(value, place); }

SerializedValue read_subgraph(const JsonValue& value, const Place& place) {
  const Fields fields(value, place);
  return std::make_shared<const SerializedGraph>(
      read_graph(fields.get("graph"), place.key("graph")));
}

SerializedValue read_operator(const JsonValue& value, const Place& place) {
  return OperatorTarget{read_string(value, place)};
}

SerializedValue read_custom_object(const JsonValue& value, const Place& place) {
  const Fields fields(value, place);
  const JsonValue* class_name = fields.find("class_fqn");
  return UnsupportedArgument{fmt::format(
      "an object of the class '{}'",
      class_name == nullptr ? "" : printable(read_string(*class_name, place.key("class_fqn"))))};
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
      {"as_int", one<integer>},
      {"as_ints", one<list<integer>>},
      {"as_int_lists", one<list<list<integer>>>},
      {"as_float", one<real>},
      {"as_floats", one<list<real>>},
      {"as_float_lists", one<list<list<real>>>},
      {"as_bool", one<boolean>},
      {"as_bools", one<list<boolean>>},
      {"as_string", one<text>},
      {"as_strings", one<list<text>>},
      {"as_complex", one<complex_number>},
      {"as_sym_int", one<symbolic<integer>>},
      {"as_sym_ints", one<list<symbolic<integer>>>},
      {"as_sym_float", one<symbolic<real>>},
      {"as_sym_floats", one<list<symbolic<real>>>},
      {"as_sym_bool", one<symbolic<boolean>>},
      {"as_sym_bools", one<list<symbolic<boolean>>>},
      {"as_scalar_type", one<dtype>},
      {"as_layout", one<layout>},
      {"as_memory_format", one<memory_format>},
      {"as_device", one<device>},
      {"as_graph", read_subgraph},
      {"as_operator", read_operator},
      {"as_custom_obj", read_custom_object},
      {"as_string_to_argument", read_dict},
  };
  return table;
}

// The value that an attribute refers to, if it is nothing else.
const ValueRef* reference(const SerializedValue& value) {
  if (const auto* ref = std::get_if<ValueRef>(&value)) return ref;
  const auto* attribute = std::get_if<Attribute>(&value);
  return attribute == nullptr ? nullptr : attribute->get_if<ValueRef>();
}

}  // namespace

std::string read_name(const JsonValue& value, const Place& place) {
  const Fields fields(value, place);
  return read_string(fields.get("name"), place.key("name"));
}

SerializedValue read_argument(const JsonValue& value, const Place& place) {
  const Union argument = read_union(value, place);
  const auto reader = readers().find(argument.kind);
  if (reader == readers().end()) {
    place.fail(fmt::format("unknown kind of argument '{}'", printable(argument.kind)));
  }
  return reader->second(argument.value, place.key(reader->first));
}

SerializedPort read_port(const JsonValue& value, const Place& place) {
  SerializedValue argument = read_argument(value, place);
  if (const ValueRef* ref = reference(argument)) return *ref;
  if (auto* unsupported = std::get_if<UnsupportedArgument>(&argument))
    return std::move(*unsupported);
  const auto* attribute = std::get_if<Attribute>(&argument);
  if (attribute == nullptr || attribute->get_if<Attribute::List>() != nullptr) {
    place.fail("expected one value, found a list, a graph or an operator");
  }
  return *attribute;
}

void read_node_output(const JsonValue& value, const Place& place,
                      std::vector<std::optional<std::string>>& names) {
  const SerializedValue argument = read_argument(value, place);
  if (const ValueRef* ref = reference(argument)) {
    names.emplace_back(ref->name);
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

}  // namespace torch_ir
