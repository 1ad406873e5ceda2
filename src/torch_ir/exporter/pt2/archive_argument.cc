#include "torch_ir/exporter/pt2/archive_argument.h"

#include <fmt/format.h>

#include <complex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/value_meta.h"

namespace torch_ir {
namespace {

// One table says how each kind of the schema (torch/_export/serde/schema.py) is read. A kind that
// is not in it is an error.

using Reader = ArchiveArgument (*)(const JsonValue& value, const Place& place);

ArchiveArgument read_none(const JsonValue&, const Place&) { return Attribute(); }

ArchiveArgument read_tensor(const JsonValue& value, const Place& place) {
  return Attribute(ValueRef{read_name(value, place)});
}

ArchiveArgument read_tensors(const JsonValue& value, const Place& place) {
  return as_list_of(value, place, [](const JsonValue& item, const Place& item_place) {
    return std::optional(read_name(item, item_place));
  });
}

std::optional<std::string> read_optional_item(const JsonValue& value, const Place& place) {
  const TaggedValue item = as_tagged(value, place);
  if (item.tag == "as_none") return std::nullopt;
  if (item.tag == "as_tensor") return read_name(item.value, place.key("as_tensor"));
  place.fail(fmt::format("a list of optional tensors has the kind '{}'", printable(item.tag)));
}

ArchiveArgument read_optional_tensors(const JsonValue& value, const Place& place) {
  return as_list_of(value, place, read_optional_item);
}

ArchiveArgument read_optional_tensor(const JsonValue& value, const Place& place) {
  auto name = read_optional_item(value, place);
  return name ? Attribute(ValueRef{std::move(*name)}) : Attribute();
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
ArchiveArgument one(const JsonValue& value, const Place& place) {
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

ArchiveArgument read_subgraph(const JsonValue& value, const Place& place) {
  return GraphArgument{&ObjectReader(value, place).get("graph")};
}

ArchiveArgument read_operator(const JsonValue& value, const Place& place) {
  return OperatorTarget{as_string(value, place)};
}

ArchiveArgument read_custom_object(const JsonValue& value, const Place& place) {
  const ObjectReader fields(value, place);
  return UnsupportedArgument{
      fmt::format("an object of the class '{}'",
                  printable(fields.get_or("class_fqn", std::string(), as_string)))};
}

ArchiveArgument read_nested_tensors(const JsonValue&, const Place&) {
  return UnsupportedArgument{"a list of lists of tensors"};
}

ArchiveArgument read_dict(const JsonValue&, const Place&) { return UnsupportedArgument{"a dict"}; }

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

}  // namespace

std::string read_name(const JsonValue& value, const Place& place) {
  return ObjectReader(value, place).get("name", as_string);
}

ArchiveArgument read_argument(const JsonValue& value, const Place& place) {
  const TaggedValue argument = as_tagged(value, place);
  const auto reader = readers().find(argument.tag);
  if (reader == readers().end()) {
    place.fail(fmt::format("unknown kind of argument '{}'", printable(argument.tag)));
  }
  return reader->second(argument.value, place.key(reader->first));
}

Attribute read_port(const JsonValue& value, const Place& place) {
  ArchiveArgument argument = read_argument(value, place);
  if (const auto* unsupported = std::get_if<UnsupportedArgument>(&argument)) {
    place.refuse(fmt::format("{} is not supported", unsupported->what));
  }
  auto* attribute = std::get_if<Attribute>(&argument);
  if (attribute == nullptr || attribute->get_if<Attribute::List>() != nullptr) {
    place.fail("expected one value, found a list, a graph or an operator");
  }
  return std::move(*attribute);
}

NameList read_output_names(const JsonValue& value, const Place& place) {
  ArchiveArgument argument = read_argument(value, place);
  if (auto* names = std::get_if<NameList>(&argument)) return std::move(*names);
  const auto* attribute = std::get_if<Attribute>(&argument);
  if (attribute == nullptr) place.fail("expected a value, found what no operator makes");
  if (attribute->is_none()) return {std::nullopt};
  const std::vector<std::string> refs = value_refs(*attribute);
  const auto* items = attribute->get_if<Attribute::List>();
  if (refs.size() != (items == nullptr ? 1 : items->size())) {
    place.fail("expected the name of a value, found a fixed value");
  }
  return {refs.begin(), refs.end()};
}

const std::string* referred_name(const Attribute& attribute) {
  const auto* ref = attribute.get_if<ValueRef>();
  return ref == nullptr ? nullptr : &ref->name;
}

}  // namespace torch_ir
