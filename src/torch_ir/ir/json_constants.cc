#include "torch_ir/ir/json_constants.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/view_as_complex.h>
#include <c10/core/DynamicCast.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/strided_copy.h"

namespace torch_ir {
namespace {

using c10::ScalarType;

bool has_json_form(ScalarType dtype) {
  return c10::isIntegralType(dtype, /*includeBool=*/true) || c10::isFloatingType(dtype) ||
         c10::isComplexType(dtype);
}

bool is_in_range(int64_t value, ScalarType dtype) {
  const size_t bits = 8 * c10::elementSize(dtype);
  if (!c10::isSignedType(dtype)) return value >= 0 && value >> bits == 0;
  const int64_t highest = std::numeric_limits<int64_t>::max() >> (64 - bits);
  return value >= -highest - 1 && value <= highest;
}

double number_in(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

double rounded_to(c10::ScalarType dtype, double value) {
  double element = 0;
  c10::cast_and_store<double>(dtype, &element, value);
  return c10::fetch_and_cast<double>(dtype, &element);
}

// The part of `shape` that nested lists show: all up to the first empty dimension.
c10::IntArrayRef visible_part(c10::IntArrayRef shape) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return shape.slice(0, i + 1);
  }
  return shape;
}

void check_writable(const std::string& name, const at::Tensor& tensor) {
  const auto fail = [&](const std::string& what) {
    throw SerializationError("cannot write constant '" + printable(name) + "': " + what);
  };
  if (!tensor.defined()) fail("it is undefined");
  if (tensor.is_meta()) fail("it is on the meta device and has no values");
  if (tensor.layout() != c10::kStrided) fail("its layout is not strided; make it dense first");
  const std::string dtype = dtype_name(tensor.scalar_type());
  if (!has_json_form(tensor.scalar_type())) fail("dtype " + dtype + " has no JSON form");
}

template <class T, class Convert>
JsonValue nested_lists(const at::Tensor& tensor, const Convert& convert) {
  const T* next = tensor.const_data_ptr<T>();
  const auto make = [&](const auto& self, c10::IntArrayRef shape) -> JsonValue {
    if (shape.empty()) return convert(*next++);
    JsonValue::array_t list;
    list.reserve(static_cast<size_t>(shape.front()));
    for (int64_t i = 0; i < shape.front(); ++i) list.push_back(self(self, shape.slice(1)));
    return list;
  };
  return make(make, visible_part(tensor.sizes()));
}

JsonValue elements_of(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous();
  const auto as_it_is = [](auto element) { return element; };
  const ScalarType dtype = tensor.scalar_type();
  if (dtype == ScalarType::Bool) return nested_lists<bool>(plain, as_it_is);
  if (dtype == ScalarType::UInt64) return nested_lists<uint64_t>(plain, as_it_is);
  if (c10::isIntegralType(dtype, /*includeBool=*/false)) {
    return nested_lists<int64_t>(plain.to(ScalarType::Long), as_it_is);
  }
  return nested_lists<double>(as_doubles(plain), [&](double element) {
    return with_fewest_digits(element, c10::toRealValueType(dtype));
  });
}

bool is_leaf(const JsonValue& value, bool is_complex) {
  if (!value.is_array()) return true;
  return is_complex && value.size() == 2 && !value.front().is_array();
}

// Looks only at the first element of each level; read_lists checks the others.
std::vector<int64_t> shape_of(const JsonValue& data, bool is_complex) {
  std::vector<int64_t> shape;
  for (const JsonValue* value = &data; !is_leaf(*value, is_complex);) {
    shape.push_back(static_cast<int64_t>(value->size()));
    if (value->empty()) break;
    value = &value->front();
  }
  return shape;
}

template <class Read>
void read_lists(const JsonValue& value, const Place& place, c10::IntArrayRef shape,
                const Read& read) {
  if (shape.empty()) return read(value, place);
  const auto size = static_cast<size_t>(shape.front());
  if (!value.is_array() || value.size() != size) {
    const std::string found =
        value.is_array() ? "a list of length " + std::to_string(value.size()) : kind_of(value);
    place.fail("expected a list of length " + std::to_string(size) +
               ", like the others at its level, found " + found);
  }
  for (size_t i = 0; i < size; ++i) read_lists(value[i], place.item(i), shape.slice(1), read);
}

[[noreturn]] void fail_range(const std::string& element, ScalarType dtype, const Place& place) {
  place.fail(element + " is out of range for " + dtype_name(dtype));
}

int64_t read_integer(const JsonValue& value, const Place& place, ScalarType dtype) {
  if (dtype == ScalarType::Bool) {
    if (!value.is_boolean()) place.fail("true or false", value);
    return value.get<bool>();
  }
  // Larger integers fit only UInt64, and are kept by their bits.
  const bool is_uint64 = dtype == ScalarType::UInt64;
  if (is_uint64 && value.is_number_unsigned()) return std::bit_cast<int64_t>(value.get<uint64_t>());
  const int64_t element = as_integer(value, place);
  const bool is_in_range = is_uint64 ? element >= 0 : torch_ir::is_in_range(element, dtype);
  if (!is_in_range) fail_range(std::to_string(element), dtype, place);
  return element;
}

double read_float(const JsonValue& value, const Place& place) {
  if (!value.is_number()) place.fail("a number", value);
  return value.get<double>();
}

// The elements in a row; two for a complex one.
std::vector<double> read_floats(const JsonValue& data, const Place& place, bool is_complex,
                                c10::IntArrayRef shape) {
  std::vector<double> floats;
  read_lists(data, place, shape, [&](const JsonValue& value, const Place& where) {
    if (!is_complex) return floats.push_back(read_float(value, where));
    if (!value.is_array() || value.size() != 2) where.fail("[re, im]", value);
    for (size_t i = 0; i < 2; ++i) floats.push_back(read_float(value[i], where.item(i)));
  });
  return floats;
}

// Converts `wide` to `dtype`. Fails at `place` if a finite element would become infinite.
at::Tensor narrowed(const at::Tensor& wide, ScalarType dtype, const Place& place) {
  at::Tensor tensor = wide.to(dtype, /*non_blocking=*/false, /*copy=*/true);
  const at::Tensor before = as_doubles(wide);
  const at::Tensor after = as_doubles(tensor);
  const double* given = before.const_data_ptr<double>();
  const double* stored = after.const_data_ptr<double>();
  for (int64_t i = 0; i < before.numel(); ++i) {
    const bool is_kept = std::isfinite(given[i]) ? std::isfinite(stored[i])
                         : std::isnan(given[i])  ? std::isnan(stored[i])
                                                 : stored[i] == given[i];
    if (!is_kept) fail_range(python_float(given[i]), dtype, place);
  }
  return tensor;
}

// `data_shape` is the part of `shape` that the lists show.
at::Tensor read_elements(const JsonValue& data, const Place& place, ScalarType dtype,
                         c10::IntArrayRef data_shape, std::vector<int64_t> shape) {
  const bool is_complex = c10::isComplexType(dtype);
  if (is_complex || c10::isFloatingType(dtype)) {
    std::vector<double> floats = read_floats(data, place, is_complex, data_shape);
    if (is_complex) shape.push_back(2);
    const at::Tensor wide = at::from_blob(floats.data(), shape, ScalarType::Double);
    return narrowed(is_complex ? at::view_as_complex(wide) : wide, dtype, place);
  }
  std::vector<int64_t> integers;
  read_lists(data, place, data_shape, [&](const JsonValue& value, const Place& where) {
    integers.push_back(read_integer(value, where, dtype));
  });
  const at::Tensor wide = at::from_blob(integers.data(), shape, ScalarType::Long);
  if (dtype == ScalarType::UInt64) return wide.clone().view(dtype);
  return wide.to(dtype, /*non_blocking=*/false, /*copy=*/true);
}

ScalarType read_element_type(const JsonValue& value, const Place& place) {
  const std::string& name = as_string(value, place);
  const std::optional<ScalarType> dtype = find_dtype(name);
  if (!dtype || !has_json_form(*dtype)) place.fail("unknown dtype '" + printable(name) + "'");
  return *dtype;
}

bool can_be(const std::vector<int64_t>& shape, const std::vector<int64_t>& data_shape) {
  return visible_part(shape) == c10::IntArrayRef(data_shape) &&
         std::ranges::all_of(shape, [](int64_t size) { return size >= 0; });
}

std::vector<int64_t> read_shape(const JsonValue* value, const std::vector<int64_t>& data_shape,
                                const std::vector<int64_t>* declared, const Place& place) {
  if (value == nullptr) {
    return declared != nullptr && can_be(*declared, data_shape) ? *declared : data_shape;
  }
  std::vector<int64_t> shape = as_sizes(*value, place);
  if (visible_part(shape) != c10::IntArrayRef(data_shape)) {
    place.fail("expected data of shape " + c10::str(c10::IntArrayRef(shape)) + ", found shape " +
               c10::str(c10::IntArrayRef(data_shape)));
  }
  return shape;
}

}  // namespace

JsonValue constant_to_json(const std::string& name, const at::Tensor& tensor) {
  check_writable(name, tensor);
  JsonValue json = {{"data", elements_of(tensor)}, {"dtype", dtype_name(tensor.scalar_type())}};
  if (visible_part(tensor.sizes()).size() != tensor.sizes().size()) {
    json["shape"] = tensor.sizes().vec();
  }
  return json;
}

// Reading a short decimal goes through double, which can round twice, so each candidate is checked
// against the exact value.
double with_fewest_digits(double value, c10::ScalarType dtype) {
  if (dtype == c10::ScalarType::Double || !std::isfinite(value)) return value;
  if (dtype == c10::ScalarType::Float) {
    const double candidate = number_in(fmt::format("{}", static_cast<float>(value)));
    return rounded_to(dtype, candidate) == value ? candidate : value;
  }
  // More digits than any smaller type needs.
  constexpr int kMaxDigits = 5;
  for (int num_digits = 1; num_digits <= kMaxDigits; ++num_digits) {
    const double candidate = number_in(fmt::format("{:.{}e}", value, num_digits - 1));
    if (rounded_to(dtype, candidate) == value) return candidate;
  }
  return value;
}

at::Tensor read_constant(const JsonValue& value, const Place& place,
                         const std::vector<int64_t>* declared) {
  const ObjectReader members(value, place, {"data", "dtype", "shape"});
  const JsonValue& data = members.get("data");
  const ScalarType dtype = members.get("dtype", read_element_type);
  const Place data_place = place.key("data");
  const std::vector<int64_t> data_shape = shape_of(data, c10::isComplexType(dtype));
  const std::vector<int64_t> shape =
      read_shape(members.find("shape"), data_shape, declared, place.key("shape"));
  if (shape.size() > kMaxTensorDims) {
    place.fail(std::to_string(shape.size()) + " dimensions; a tensor can have at most " +
               std::to_string(kMaxTensorDims));
  }
  try {
    return read_elements(data, data_place, dtype, data_shape, shape);
  } catch (const c10::Error& error) {
    place.fail(error.what_without_backtrace());
  }
}

}  // namespace torch_ir
