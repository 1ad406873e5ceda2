#include "torch_ir/exporter/pt2/value_meta.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/sympy_text.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/sym_expr.h"
#include "torch_ir/weights/storage_tensor.h"

namespace torch_ir {
namespace {

template <class T>
struct Numbered {
  int64_t number;
  T value;
};

constexpr Numbered<c10::ScalarType> kDtypes[] = {
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
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 7
    {33, c10::ScalarType::Float8_e8m0fnu},
#endif
    {34, c10::ScalarType::UInt32},
    {35, c10::ScalarType::UInt64},
};

constexpr Numbered<c10::Layout> kLayouts[] = {
    {1, c10::kSparse},    {2, c10::kSparseCsr}, {3, c10::kSparseCsc}, {4, c10::kSparseBsr},
    {5, c10::kSparseBsc}, {6, c10::kMkldnn},    {7, c10::kStrided},
};

constexpr Numbered<c10::MemoryFormat> kMemoryFormats[] = {
    {1, c10::MemoryFormat::Contiguous},
    {2, c10::MemoryFormat::ChannelsLast},
    {3, c10::MemoryFormat::ChannelsLast3d},
    {4, c10::MemoryFormat::Preserve},
};

template <class T>
T look_up(std::span<const Numbered<T>> table, const JsonValue& value, const Place& place,
          const char* kind) {
  const int64_t number = as_integer(value, place);
  for (const Numbered<T>& entry : table) {
    if (entry.number == number) return entry.value;
  }
  place.fail(fmt::format("unknown {} number {}", kind, number));
}

struct Size {
  int64_t value = kDynamicSize;
  // Empty where the value is known.
  std::string expression;
};

// An expression without symbols is a number, or it is nothing.
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
  if (size.tag != "as_expr") {
    place.fail(fmt::format("a size has the unknown kind '{}'", printable(size.tag)));
  }
  return read_expression(size.value, place.key("as_expr"));
}

ExportedValue number_meta(c10::ScalarType dtype) {
  ExportedValue meta;
  meta.dtype = dtype;
  meta.is_scalar = true;
  return meta;
}

// What is known of the size must be possible.
void check_bytes(const ExportedValue& meta, const Place& place) {
  if (std::ranges::find(meta.shape, 0) != meta.shape.end()) return;
  auto bytes = static_cast<int64_t>(c10::elementSize(meta.dtype));
  for (const int64_t size : meta.shape) {
    if (size != kDynamicSize && __builtin_mul_overflow(bytes, size, &bytes)) {
      place.fail("the tensor would need more than 2^63 bytes");
    }
  }
}

}  // namespace

c10::ScalarType read_dtype(const JsonValue& value, const Place& place) {
  return look_up<c10::ScalarType>(kDtypes, value, place, "dtype");
}

c10::Layout read_layout(const JsonValue& value, const Place& place) {
  return look_up<c10::Layout>(kLayouts, value, place, "layout");
}

c10::MemoryFormat read_memory_format(const JsonValue& value, const Place& place) {
  return look_up<c10::MemoryFormat>(kMemoryFormats, value, place, "memory format");
}

c10::Device read_device(const JsonValue& value, const Place& place) {
  const ObjectReader fields(value, place);
  const std::string type = fields.get("type", as_string);
  const int64_t number = fields.get_or("index", int64_t{-1}, as_integer);
  if (number < -1 || number > std::numeric_limits<c10::DeviceIndex>::max()) {
    place.fail(fmt::format("no device has the index {}", number));
  }
  try {
    const c10::Device device(type);
    if (!device.has_index())
      return c10::Device(device.type(), static_cast<c10::DeviceIndex>(number));
  } catch (const c10::Error&) {
    // Said below.
  }
  place.fail(fmt::format("unknown device '{}'", printable(type)));
}

void check_layout(const ObjectReader& meta) {
  const JsonValue* value = meta.find("layout");
  if (value == nullptr) return;
  const Place place = meta.place().key("layout");
  const c10::Layout layout = read_layout(*value, place);
  if (layout == c10::kStrided) return;
  place.refuse(fmt::format("tensors of the layout {} are not supported", layout_name(layout)));
}

ExportedValue read_tensor_meta(const JsonValue& value, const Place& place) {
  const ObjectReader fields(value, place);
  ExportedValue meta;
  meta.dtype = fields.get("dtype", read_dtype);
  check_layout(fields);
  const Place sizes_place = place.key("sizes");
  const JsonValue::array_t& sizes = as_list(fields.get("sizes"), sizes_place);
  if (sizes.size() > kMaxTensorDims) {
    sizes_place.fail(
        fmt::format("{} dimensions, and a tensor has at most {}", sizes.size(), kMaxTensorDims));
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    Size size = read_size(sizes[i], sizes_place.item(i));
    if (size.expression.empty() && size.value < 0) {
      sizes_place.item(i).fail(fmt::format("the size {} is negative", size.value));
    }
    meta.shape.push_back(size.value);
    if (size.expression.empty()) continue;
    meta.symbolic_shape.resize(sizes.size());
    meta.symbolic_shape[i] = std::move(size.expression);
  }
  check_bytes(meta, sizes_place);
  return meta;
}

ExportedValue read_sym_int_meta(const JsonValue& value, const Place& place) {
  ExportedValue meta = number_meta(c10::ScalarType::Long);
  Size size = read_size(value, place);
  meta.expression =
      size.expression.empty() ? std::to_string(size.value) : std::move(size.expression);
  return meta;
}

// Their expressions say nothing about shapes: runs compute them with nodes.
template <c10::ScalarType kDtype>
ExportedValue read_number_meta(const JsonValue& value, const Place& place) {
  const TaggedValue number = as_tagged(value, place);
  if (number.tag != "as_expr" && number.tag != "as_float" && number.tag != "as_bool") {
    place.fail(fmt::format("a number has the unknown kind '{}'", printable(number.tag)));
  }
  return number_meta(kDtype);
}

int64_t read_fixed_size(const JsonValue& value, const Place& place) {
  const Size size = read_size(value, place);
  if (size.expression.empty()) return size.value;
  place.fail(fmt::format("the size of a weight must be fixed, and is {}", size.expression));
}

std::vector<int64_t> read_fixed_sizes(const JsonValue& value, const Place& place) {
  return as_list_of(value, place, read_fixed_size);
}

template ExportedValue read_number_meta<c10::ScalarType::Double>(const JsonValue&, const Place&);
template ExportedValue read_number_meta<c10::ScalarType::Bool>(const JsonValue&, const Place&);

}  // namespace torch_ir
