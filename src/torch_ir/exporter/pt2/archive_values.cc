#include "torch_ir/exporter/pt2/archive_values.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <unordered_map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/sym_expr.h"

namespace torch_ir {
namespace {

// Enumerations of torch/_export/serde/schema.py.

constexpr std::pair<int64_t, c10::ScalarType> kDtypes[] = {
    {1, c10::ScalarType::Byte},
    {2, c10::ScalarType::Char},
    {3, c10::ScalarType::Short},
    {4, c10::ScalarType::Int},
    {5, c10::ScalarType::Long},
    {6, c10::ScalarType::Half},
    {7, c10::ScalarType::Float},
    {8, c10::ScalarType::Double},
    {9, c10::ScalarType::ComplexHalf},
    {10, c10::ScalarType::ComplexFloat},
    {11, c10::ScalarType::ComplexDouble},
    {12, c10::ScalarType::Bool},
    {13, c10::ScalarType::BFloat16},
    {28, c10::ScalarType::UInt16},
    {29, c10::ScalarType::Float8_e4m3fn},
    {30, c10::ScalarType::Float8_e5m2},
    {31, c10::ScalarType::Float8_e4m3fnuz},
    {32, c10::ScalarType::Float8_e5m2fnuz},
    {33, c10::ScalarType::Float8_e8m0fnu},
    {34, c10::ScalarType::UInt32},
    {35, c10::ScalarType::UInt64},
};

constexpr std::pair<int64_t, c10::Layout> kLayouts[] = {
    {1, c10::kSparse},    {2, c10::kSparseCsr}, {3, c10::kSparseCsc}, {4, c10::kSparseBsr},
    {5, c10::kSparseBsc}, {6, c10::kMkldnn},    {7, c10::kStrided},
};

constexpr std::pair<int64_t, c10::MemoryFormat> kMemoryFormats[] = {
    {1, c10::MemoryFormat::Contiguous},
    {2, c10::MemoryFormat::ChannelsLast},
    {3, c10::MemoryFormat::ChannelsLast3d},
    {4, c10::MemoryFormat::Preserve},
};

template <class T, size_t kCount>
T look_up(const std::pair<int64_t, T> (&table)[kCount], const JsonValue& value, const Place& place,
          const char* kind) {
  const int64_t number = as_integer(value, place);
  for (const auto& [known, enumerator] : table) {
    if (known == number) return enumerator;
  }
  place.fail(fmt::format("unknown {} number {}", kind, number));
}

c10::Layout read_layout(const JsonValue& value, const Place& place) {
  return look_up(kLayouts, value, place, "layout");
}

c10::MemoryFormat read_memory_format(const JsonValue& value, const Place& place) {
  return look_up(kMemoryFormats, value, place, "memory format");
}

// {"type": "cpu", "index": null}
c10::Device read_device(const JsonValue& value, const Place& place) {
  const ObjectReader fields(value, place);
  const std::string type = fields.get("type", as_string);
  const int64_t number = fields.get_or("index", int64_t{-1}, as_integer);
  if (number < -1 || number > std::numeric_limits<c10::DeviceIndex>::max()) {
    place.fail(fmt::format("invalid device index {}", number));
  }
  try {
    const c10::Device device(type);
    if (!device.has_index())
      return c10::Device(device.type(), static_cast<c10::DeviceIndex>(number));
  } catch (const c10::Error&) {
    // The error follows below.
  }
  place.fail(fmt::format("unknown device '{}'", printable(type)));
}

std::complex<double> read_complex(const JsonValue& value, const Place& place) {
  const ObjectReader fields(value, place);
  return {fields.get("real", as_float), fields.get("imag", as_float)};
}

using Reader = Attribute (*)(const JsonValue& value, const Place& place, OperandOf operand_of);

template <auto read>
Attribute one(const JsonValue& value, const Place& place, OperandOf) {
  return read(value, place);
}

template <Reader read_item>
Attribute list(const JsonValue& value, const Place& place, OperandOf operand_of) {
  return as_list_of(value, place, [&](const JsonValue& item, const Place& item_place) {
    return read_item(item, item_place, operand_of);
  });
}

template <auto read_fixed>
Attribute symbolic(const JsonValue& value, const Place& place, OperandOf operand_of) {
  const TaggedValue item = as_tagged(value, place);
  const Place item_place = place.key(item.tag);
  if (item.tag == "as_name") {
    const std::string& name = as_string(item.value, item_place);
    const Operand operand = operand_of(name);
    if (const auto* number = std::get_if<Attribute>(&operand)) return *number;
    throw ExportError(fmt::format("expected a number, found the tensor '{}'", printable(name)));
  }
  if (item.tag == "as_int" || item.tag == "as_float" || item.tag == "as_bool") {
    return read_fixed(item.value, item_place);
  }
  place.fail(fmt::format("unknown kind of number '{}'", printable(item.tag)));
}

Attribute read_none(const JsonValue&, const Place&, OperandOf) { return {}; }

Attribute read_dict(const JsonValue&, const Place&, OperandOf) { return Opaque{"a dict"}; }

Attribute read_nested_tensors(const JsonValue&, const Place&, OperandOf) {
  return Opaque{"a list of lists of tensors"};
}

Attribute read_object(const JsonValue& value, const Place& place, OperandOf) {
  const ObjectReader object(value, place);
  const std::string name = object.get_or("class_fqn", std::string(), as_string);
  return Opaque{fmt::format("an object of the class '{}'", printable(name))};
}

const std::unordered_map<std::string_view, Reader>& readers() {
  static const std::unordered_map<std::string_view, Reader> table = {
      {"as_none", read_none},
      {"as_int", one<as_integer>},
      {"as_ints", list<one<as_integer>>},
      {"as_int_lists", list<list<one<as_integer>>>},
      {"as_float", one<as_float>},
      {"as_floats", list<one<as_float>>},
      {"as_float_lists", list<list<one<as_float>>>},
      {"as_bool", one<as_boolean>},
      {"as_bools", list<one<as_boolean>>},
      {"as_string", one<as_string>},
      {"as_strings", list<one<as_string>>},
      {"as_complex", one<read_complex>},
      {"as_sym_int", symbolic<as_integer>},
      {"as_sym_ints", list<symbolic<as_integer>>},
      {"as_sym_float", symbolic<as_float>},
      {"as_sym_floats", list<symbolic<as_float>>},
      {"as_sym_bool", symbolic<as_boolean>},
      {"as_sym_bools", list<symbolic<as_boolean>>},
      {"as_scalar_type", one<read_dtype>},
      {"as_layout", one<read_layout>},
      {"as_memory_format", one<read_memory_format>},
      {"as_device", one<read_device>},
      {"as_custom_obj", read_object},
      {"as_nested_tensors", read_nested_tensors},
      {"as_string_to_argument", read_dict},
  };
  return table;
}

Operand read_tensor(const JsonValue& value, const Place& place, OperandOf operand_of) {
  return operand_of(read_name(value, place));
}

Operand read_optional_tensor(const JsonValue& value, const Place& place, OperandOf operand_of) {
  const TaggedValue item = as_tagged(value, place);
  if (item.tag == "as_none") return Attribute();
  if (item.tag == "as_tensor") return read_tensor(item.value, place.key("as_tensor"), operand_of);
  place.fail(
      fmt::format("unexpected kind '{}' in a list of optional tensors", printable(item.tag)));
}

// Archives may refer to numbers as to tensors.
Operand list_of(const std::vector<Operand>& items) {
  ValueList tensors;
  Attribute::List numbers;
  for (const Operand& item : items) {
    const auto* fixed = std::get_if<Attribute>(&item);
    if (fixed == nullptr) {
      tensors.emplace_back(std::get<ValueId>(item));
    } else if (fixed->is_none()) {
      tensors.emplace_back(std::nullopt);
    } else {
      numbers.push_back(*fixed);
    }
  }
  if (numbers.empty()) return tensors;
  if (tensors.empty()) return Attribute(std::move(numbers));
  throw ExportError("expected a list of tensors, found tensors and numbers in it");
}

using OperandReader = Operand (*)(const JsonValue& value, const Place& place, OperandOf operand_of);

OperandReader reader_of_items(std::string_view kind) {
  if (kind == "as_tensors") return read_tensor;
  return kind == "as_optional_tensors" ? read_optional_tensor : nullptr;
}

Operand reference_to(const std::string& name) { return Attribute(ValueRef{name}); }

struct Size {
  int64_t value = kDynamicSize;
  std::string expression;
};

// An expression without symbols must be a number.
Size make_size(std::string expression) {
  const SymExpr parsed = SymExpr::parse(expression);
  if (!parsed.symbols().empty()) return {kDynamicSize, std::move(expression)};
  if (const auto value = parsed.evaluate({})) return {*value, {}};
  throw ExportError(fmt::format("the expression '{}' has no integer value", printable(expression)));
}

Size read_expression(const JsonValue& value, const Place& place) {
  const std::string& text = ObjectReader(value, place).get("expr_str", as_string);
  try {
    return make_size(infix_of_srepr(text));
  } catch (const Error& error) {
    place.key("expr_str").fail(error);
  }
}

Size read_size(const JsonValue& value, const Place& place) {
  const TaggedValue size = as_tagged(value, place);
  if (size.tag == "as_int") return {as_integer(size.value, place.key("as_int")), {}};
  if (size.tag == "as_expr") return read_expression(size.value, place.key("as_expr"));
  place.fail(fmt::format("unknown kind of size '{}'", printable(size.tag)));
}

void check_bytes(const Value& meta, const Place& place) {
  if (std::ranges::find(meta.shape, 0) != meta.shape.end()) return;
  auto bytes = static_cast<int64_t>(c10::elementSize(meta.dtype));
  for (const int64_t size : meta.shape) {
    if (size != kDynamicSize && __builtin_mul_overflow(bytes, size, &bytes)) {
      place.fail("the tensor would need more than 2^63 bytes");
    }
  }
}

}  // namespace

Operand read_argument(const JsonValue& value, const Place& place, OperandOf operand_of) {
  const TaggedValue argument = as_tagged(value, place);
  const Place argument_place = place.key(argument.tag);
  if (argument.tag == "as_tensor") {
    return read_tensor(argument.value, argument_place, operand_of);
  }
  if (argument.tag == "as_optional_tensor") {
    return read_optional_tensor(argument.value, argument_place, operand_of);
  }
  if (reader_of_items(argument.tag) != nullptr) {
    return list_of(read_items(value, place, operand_of));
  }
  if (argument.tag == "as_graph" || argument.tag == "as_operator") {
    throw ExportError("expected a value as an argument, found a graph or an operator");
  }
  const auto reader = readers().find(argument.tag);
  if (reader != readers().end()) return reader->second(argument.value, argument_place, operand_of);
  place.fail(fmt::format("unknown kind of argument '{}'", printable(argument.tag)));
}

std::vector<Operand> read_items(const JsonValue& value, const Place& place, OperandOf operand_of) {
  const TaggedValue argument = as_tagged(value, place);
  if (const OperandReader read = reader_of_items(argument.tag)) {
    return as_list_of(
        argument.value, place.key(argument.tag),
        [&](const JsonValue& item, const Place& at) { return read(item, at, operand_of); });
  }
  Operand operand = read_argument(value, place, operand_of);
  const auto* attribute = std::get_if<Attribute>(&operand);
  const auto* items = attribute == nullptr ? nullptr : attribute->get_if<Attribute::List>();
  if (items == nullptr) return {std::move(operand)};
  return {items->begin(), items->end()};
}

Attribute read_port(const JsonValue& value, const Place& place) {
  const Operand operand = read_argument(value, place, reference_to);
  const auto* attribute = std::get_if<Attribute>(&operand);
  if (attribute == nullptr || attribute->get_if<Attribute::List>() != nullptr) {
    place.fail("expected one value, found a list");
  }
  return *attribute;
}

std::vector<std::optional<std::string>> read_output_names(const JsonValue& value,
                                                          const Place& place) {
  std::vector<std::optional<std::string>> names;
  for (const Operand& item : read_items(value, place, reference_to)) {
    const auto& attribute = std::get<Attribute>(item);
    const std::string* name = referred_name(attribute);
    // An object is no value: nodes that take it say what it is.
    if (name == nullptr && !attribute.is_none() && attribute.get_if<Opaque>() == nullptr) {
      place.fail("expected the name of a value, found a fixed value");
    }
    names.push_back(name == nullptr ? std::nullopt : std::optional(*name));
  }
  return names;
}

const std::string* referred_name(const Attribute& attribute) {
  const auto* ref = attribute.get_if<ValueRef>();
  return ref == nullptr ? nullptr : &ref->name;
}

std::string read_name(const JsonValue& value, const Place& place) {
  return ObjectReader(value, place).get("name", as_string);
}

c10::ScalarType read_dtype(const JsonValue& value, const Place& place) {
  return look_up(kDtypes, value, place, "dtype");
}

void check_layout(const ObjectReader& meta) {
  const JsonValue* value = meta.find("layout");
  if (value == nullptr) return;
  const Place place = meta.place().key("layout");
  const c10::Layout layout = read_layout(*value, place);
  if (layout == c10::kStrided) return;
  place.refuse(fmt::format("tensors of the layout {} are not supported", layout_name(layout)));
}

std::string read_device_type(const ObjectReader& meta) {
  return meta.get_or("device", std::string(), [](const JsonValue& device, const Place& place) {
    return ObjectReader(device, place).get("type", as_string);
  });
}

Value read_tensor_meta(const JsonValue& value, const Place& place) {
  const ObjectReader fields(value, place);
  Value meta;
  meta.dtype = fields.get("dtype", read_dtype);
  check_layout(fields);
  meta.requires_grad = fields.get_or("requires_grad", false, as_boolean);
  const Place sizes_place = place.key("sizes");
  const JsonValue::array_t& sizes = as_list(fields.get("sizes"), sizes_place);
  if (sizes.size() > kMaxTensorDims) {
    sizes_place.fail(
        fmt::format("{} dimensions; a tensor can have at most {}", sizes.size(), kMaxTensorDims));
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    Size size = read_size(sizes[i], sizes_place.item(i));
    if (size.expression.empty() && size.value < 0) {
      sizes_place.item(i).fail(fmt::format("negative size {}", size.value));
    }
    meta.shape.push_back(size.value);
    if (size.expression.empty()) continue;
    meta.symbolic_shape.resize(sizes.size());
    meta.symbolic_shape[i] = std::move(size.expression);
  }
  check_bytes(meta, sizes_place);
  return meta;
}

Value read_integer_meta(const JsonValue& value, const Place& place) {
  Size size = read_size(value, place);
  return {.shape = {},
          .dtype = c10::ScalarType::Long,
          .is_scalar = true,
          .expression =
              size.expression.empty() ? std::to_string(size.value) : std::move(size.expression)};
}

// Ignores their expressions, which shapes do not use: runs compute them with nodes.
Value read_number_meta(c10::ScalarType dtype, const JsonValue& value, const Place& place) {
  const TaggedValue number = as_tagged(value, place);
  if (number.tag != "as_expr" && number.tag != "as_float" && number.tag != "as_bool") {
    place.fail(fmt::format("unknown kind of number '{}'", printable(number.tag)));
  }
  return {.shape = {}, .dtype = dtype, .is_scalar = true};
}

int64_t read_fixed_size(const JsonValue& value, const Place& place) {
  const Size size = read_size(value, place);
  if (size.expression.empty()) return size.value;
  place.fail(fmt::format("expected a fixed size for a weight, found {}", size.expression));
}

}  // namespace torch_ir
