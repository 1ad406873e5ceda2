#include "torch_ir/exporter/pt2/value_meta.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/schema_numbers.h"
#include "torch_ir/exporter/pt2/sympy_text.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/sym_expr.h"

namespace torch_ir {
namespace {

constexpr size_t kMaxDimensions = 64;

struct Size {
  int64_t value = kDynamicSize;
  // Empty where the value is known.
  std::string expression;
};

// An expression without symbols is a number, or it is nothing.
Size make_size(std::string expression) {
  const SymExpr parsed = SymExpr::parse(expression);
  if (!parsed.symbols().empty()) return {kDynamicSize, std::move(expression)};
  const std::optional<int64_t> value = parsed.evaluate({});
  if (!value) {
    throw ExportError(
        fmt::format("the expression '{}' has no integer value", printable(expression)));
  }
  return {*value, {}};
}

Size read_expression(const JsonValue& value, const Place& place) {
  const Fields fields(value, place);
  const Place text_place = place.key("expr_str");
  const std::string& text = read_string(fields.get("expr_str"), text_place);
  try {
    return make_size(infix_of_srepr(text));
  } catch (const SerializationError&) {
    throw;
  } catch (const Error& error) {
    text_place.fail(error);
  }
}

Size read_size(const JsonValue& value, const Place& place) {
  const Union size = read_union(value, place);
  if (size.kind == "as_int") return {as_integer(size.value, place.key("as_int")), {}};
  if (size.kind != "as_expr") {
    place.fail(fmt::format("a size has the unknown kind '{}'", printable(size.kind)));
  }
  return read_expression(size.value, place.key("as_expr"));
}

ValueMeta number_meta(c10::ScalarType dtype) {
  ValueMeta meta;
  meta.dtype = dtype;
  meta.is_scalar = true;
  return meta;
}

// What is known of the size must be possible.
void check_bytes(const ValueMeta& meta, const Place& place) {
  if (std::ranges::find(meta.shape, 0) != meta.shape.end()) return;
  auto bytes = static_cast<int64_t>(c10::elementSize(meta.dtype));
  for (const int64_t size : meta.shape) {
    if (size != kDynamicSize && __builtin_mul_overflow(bytes, size, &bytes)) {
      place.fail("the tensor would need more than 2^63 bytes");
    }
  }
}

// The expressions of floats and booleans say nothing about shapes: runs compute them with nodes.
void check_number(const JsonValue& value, const Place& place) {
  const Union number = read_union(value, place);
  if (number.kind != "as_expr" && number.kind != "as_float" && number.kind != "as_bool") {
    place.fail(fmt::format("a number has the unknown kind '{}'", printable(number.kind)));
  }
}

}  // namespace

void check_layout(const Fields& meta) {
  const JsonValue* value = meta.find("layout");
  if (value == nullptr) return;
  const Place place = meta.place().key("layout");
  const c10::Layout layout = read_layout(*value, place);
  if (layout == c10::kStrided) return;
  place.refuse(fmt::format("tensors of the layout {} are not supported", layout_name(layout)));
}

ValueMeta read_tensor_meta(const JsonValue& value, const Place& place) {
  const Fields fields(value, place);
  ValueMeta meta;
  meta.dtype = read_dtype(fields.get("dtype"), place.key("dtype"));
  check_layout(fields);
  const Place sizes_place = place.key("sizes");
  const JsonValue::List& sizes = read_list(fields.get("sizes"), sizes_place);
  if (sizes.size() > kMaxDimensions) {
    sizes_place.fail(
        fmt::format("{} dimensions, and a tensor has at most {}", sizes.size(), kMaxDimensions));
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

ValueMeta read_sym_int_meta(const JsonValue& value, const Place& place) {
  ValueMeta meta = number_meta(c10::ScalarType::Long);
  Size size = read_size(value, place);
  meta.expression =
      size.expression.empty() ? std::to_string(size.value) : std::move(size.expression);
  return meta;
}

ValueMeta read_sym_float_meta(const JsonValue& value, const Place& place) {
  check_number(value, place);
  return number_meta(c10::ScalarType::Double);
}

ValueMeta read_sym_bool_meta(const JsonValue& value, const Place& place) {
  check_number(value, place);
  return number_meta(c10::ScalarType::Bool);
}

int64_t read_fixed_size(const JsonValue& value, const Place& place) {
  const Size size = read_size(value, place);
  if (size.expression.empty()) return size.value;
  place.fail(fmt::format("the size of a weight must be fixed, and is {}", size.expression));
}

std::vector<int64_t> read_fixed_sizes(const JsonValue& value, const Place& place) {
  const JsonValue::List& items = read_list(value, place);
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < items.size(); ++i) {
    sizes.push_back(read_fixed_size(items[i], place.item(i)));
  }
  return sizes;
}

}  // namespace torch_ir
