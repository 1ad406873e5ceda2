#include "torch_ir/ir/json_constants.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/view_as_real.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Exception.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e4m3fnuz.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Float8_e5m2fnuz.h>
#include <c10/util/Half.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"

#if __has_include(<c10/util/Float8_e8m0fnu.h>)
#include <c10/util/Float8_e8m0fnu.h>
#define TORCH_IR_HAS_FLOAT8_E8M0FNU 1
#endif

namespace torch_ir {
namespace {

using c10::ScalarType;

enum class ElementKind { kBool, kInteger, kUInt64, kFloat, kComplex };

struct ElementType {
  ScalarType dtype;
  ElementKind kind;
};

// Nothing for a dtype without a JSON form.
std::optional<ElementType> find_element_type(ScalarType dtype) {
  if (dtype == ScalarType::Bool) return ElementType{dtype, ElementKind::kBool};
  if (dtype == ScalarType::UInt64) return ElementType{dtype, ElementKind::kUInt64};
  if (c10::isIntegralType(dtype, false)) return ElementType{dtype, ElementKind::kInteger};
  if (c10::isFloatingType(dtype)) return ElementType{dtype, ElementKind::kFloat};
  if (c10::isComplexType(dtype)) return ElementType{dtype, ElementKind::kComplex};
  return std::nullopt;
}

bool is_in_range(int64_t value, ScalarType dtype) {
  const size_t bits = 8 * c10::elementSize(dtype);
  if (!c10::isSignedType(dtype)) return value >= 0 && value >> bits == 0;
  const int64_t highest = std::numeric_limits<int64_t>::max() >> (64 - bits);
  return value >= -highest - 1 && value <= highest;
}

// --- Writing ---

double number_in(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

template <class T>
double rounded_to(double value) {
  return static_cast<double>(static_cast<float>(static_cast<T>(static_cast<float>(value))));
}

// What storing a double as an element of a dtype makes of it, and how many digits surely suffice.
struct FloatType {
  c10::ScalarType dtype;
  double (*round)(double);
  int max_digits;
};
constexpr FloatType kFloatTypes[] = {
    {c10::ScalarType::Float, rounded_to<float>, 9},
    {c10::ScalarType::Half, rounded_to<c10::Half>, 5},
    {c10::ScalarType::BFloat16, rounded_to<c10::BFloat16>, 4},
    {c10::ScalarType::Float8_e5m2, rounded_to<c10::Float8_e5m2>, 3},
    {c10::ScalarType::Float8_e5m2fnuz, rounded_to<c10::Float8_e5m2fnuz>, 3},
    {c10::ScalarType::Float8_e4m3fn, rounded_to<c10::Float8_e4m3fn>, 3},
    {c10::ScalarType::Float8_e4m3fnuz, rounded_to<c10::Float8_e4m3fnuz>, 3},
#ifdef TORCH_IR_HAS_FLOAT8_E8M0FNU
    {c10::ScalarType::Float8_e8m0fnu, rounded_to<c10::Float8_e8m0fnu>, 2},
#endif
};

const FloatType& float_type(c10::ScalarType dtype) {
  for (const FloatType& type : kFloatTypes) {
    if (type.dtype == dtype) return type;
  }
  throw SerializationError("elements of dtype " + dtype_name(dtype) + " are no floats");
}

// The part of `shape` that nested lists show: all up to the first empty dimension.
c10::IntArrayRef visible_part(c10::IntArrayRef shape) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return shape.slice(0, i + 1);
  }
  return shape;
}

ElementType writable_type(const std::string& name, const at::Tensor& tensor) {
  const auto fail = [&](const std::string& what) {
    throw SerializationError("constant '" + printable(name) + "' can not be written: " + what);
  };
  if (!tensor.defined()) fail("it is undefined");
  if (tensor.is_meta()) fail("it is on the meta device and has no values");
  if (tensor.layout() != c10::kStrided) fail("its layout is not strided; write it dense");
  const std::string dtype = dtype_name(tensor.scalar_type());
  const auto type = find_element_type(tensor.scalar_type());
  if (!type) fail("dtype " + dtype + " has no JSON form");
  return *type;
}

// Nested lists of what `convert` makes of each element of `tensor`, which is contiguous.
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

JsonValue elements_of(const at::Tensor& tensor, ElementKind kind) {
  const at::Tensor plain = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous();
  const auto as_it_is = [](auto element) { return element; };
  const auto shortest = [dtype = c10::toRealValueType(tensor.scalar_type())](double element) {
    return with_fewest_digits(element, dtype);
  };
  switch (kind) {
    case ElementKind::kBool:
      return nested_lists<bool>(plain, as_it_is);
    case ElementKind::kInteger:
      return nested_lists<int64_t>(plain.to(ScalarType::Long), as_it_is);
    case ElementKind::kUInt64:
      return nested_lists<uint64_t>(plain, as_it_is);
    case ElementKind::kFloat:
      return nested_lists<double>(plain.to(ScalarType::Double), shortest);
    case ElementKind::kComplex:
      return nested_lists<double>(at::view_as_real(plain.to(ScalarType::ComplexDouble)), shortest);
  }
  return {};
}

// --- Reading ---

bool is_leaf(const JsonValue& value, ElementKind kind) {
  if (!value.is_array()) return true;
  return kind == ElementKind::kComplex && value.size() == 2 && !value.front().is_array();
}

// As the first element of each level has it; ElementReader checks the others.
std::vector<int64_t> shape_of(const JsonValue& data, ElementKind kind) {
  std::vector<int64_t> shape;
  for (const JsonValue* value = &data; !is_leaf(*value, kind);) {
    shape.push_back(static_cast<int64_t>(value->size()));
    if (value->empty()) break;
    value = &value->front();
  }
  return shape;
}

// Collects the elements of nested lists.
class ElementReader {
 public:
  ElementReader(const ElementType& type, std::vector<int64_t> shape)
      : type_(type), shape_(std::move(shape)) {}

  void read(const JsonValue& value, const Place& place, size_t depth = 0) {
    if (depth == shape_.size()) return read_element(value, place);
    const auto size = static_cast<size_t>(shape_[depth]);
    if (!value.is_array() || value.size() != size) {
      const std::string found =
          value.is_array() ? "a list of " + std::to_string(value.size()) : kind_of(value);
      place.fail("expected a list of " + std::to_string(size) +
                 ", as long as the others of its level, found " + found);
    }
    for (size_t i = 0; i < size; ++i) read(value[i], place.item(i), depth + 1);
  }

  // The elements as a tensor of `shape`. Elements that are finite stay so, or `place` fails.
  at::Tensor make_tensor(c10::IntArrayRef shape, const Place& place) {
    switch (type_.kind) {
      case ElementKind::kBool:
      case ElementKind::kInteger:
        return over_integers(shape).to(type_.dtype, /*non_blocking=*/false, /*copy=*/true);
      case ElementKind::kUInt64:
        return over_integers(shape).clone().view(type_.dtype);
      case ElementKind::kFloat: {
        const at::Tensor wide = at::from_blob(floats_.data(), shape, ScalarType::Double);
        return checked(wide.to(type_.dtype, false, /*copy=*/true), place);
      }
      case ElementKind::kComplex: {
        std::vector<int64_t> pairs = shape.vec();
        pairs.push_back(2);
        const at::Tensor wide = at::from_blob(floats_.data(), pairs, ScalarType::Double);
        return checked(at::view_as_complex(wide).to(type_.dtype, false, /*copy=*/true), place);
      }
    }
    return {};
  }

 private:
  at::Tensor over_integers(c10::IntArrayRef shape) {
    return at::from_blob(integers_.data(), shape, ScalarType::Long);
  }

  // `tensor`, made from `floats_`, when none of them was too large for its dtype.
  at::Tensor checked(at::Tensor tensor, const Place& place) const {
    at::Tensor wide = type_.kind == ElementKind::kComplex
                          ? at::view_as_real(tensor.to(ScalarType::ComplexDouble))
                          : tensor.to(ScalarType::Double);
    const double* stored = wide.const_data_ptr<double>();
    for (size_t i = 0; i < floats_.size(); ++i) {
      const bool is_kept = std::isfinite(floats_[i]) ? std::isfinite(stored[i])
                           : std::isnan(floats_[i])  ? std::isnan(stored[i])
                                                     : stored[i] == floats_[i];
      if (!is_kept) {
        fail_range(python_float(floats_[i]), place);
      }
    }
    return tensor;
  }

  void read_element(const JsonValue& value, const Place& place) {
    switch (type_.kind) {
      case ElementKind::kBool:
        return read_bool(value, place);
      case ElementKind::kInteger:
        return read_integer(value, place);
      case ElementKind::kUInt64:
        return read_uint64(value, place);
      case ElementKind::kFloat:
        return read_float(value, place);
      case ElementKind::kComplex:
        return read_complex(value, place);
    }
  }

  void read_bool(const JsonValue& value, const Place& place) {
    if (!value.is_boolean()) place.fail("true or false", value);
    integers_.push_back(value.get<bool>());
  }

  void read_integer(const JsonValue& value, const Place& place) {
    const int64_t element = as_integer(value, place);
    if (!is_in_range(element, type_.dtype)) fail_range(std::to_string(element), place);
    integers_.push_back(element);
  }

  void read_uint64(const JsonValue& value, const Place& place) {
    const bool is_large = value.is_number_unsigned();
    const int64_t element =
        is_large ? std::bit_cast<int64_t>(value.get<uint64_t>()) : as_integer(value, place);
    if (element < 0 && !is_large) fail_range(std::to_string(element), place);
    integers_.push_back(element);
  }

  void read_float(const JsonValue& value, const Place& place) {
    if (!value.is_number()) place.fail("a number", value);
    floats_.push_back(value.get<double>());
  }

  void read_complex(const JsonValue& value, const Place& place) {
    if (!value.is_array() || value.size() != 2) place.fail("[re, im]", value);
    read_float(value[0], place.item(0));
    read_float(value[1], place.item(1));
  }

  [[noreturn]] void fail_range(const std::string& element, const Place& place) const {
    place.fail(element + " is out of the range of " + dtype_name(type_.dtype));
  }

  const ElementType type_;
  std::vector<int64_t> shape_;
  std::vector<int64_t> integers_;
  std::vector<double> floats_;
};

ElementType read_element_type(const JsonValue& value, const Place& place) {
  const std::string& name = as_string(value, place);
  const std::optional<ScalarType> dtype = find_dtype(name);
  const auto type = dtype ? find_element_type(*dtype) : std::nullopt;
  if (!type) place.fail("unknown dtype '" + printable(name) + "'");
  return *type;
}

// Whether the lists of a constant of this shape show what `data_shape` says.
bool can_be(const std::vector<int64_t>& shape, const std::vector<int64_t>& data_shape) {
  return visible_part(shape) == c10::IntArrayRef(data_shape) &&
         std::ranges::all_of(shape, [](int64_t size) { return size >= 0; });
}

std::vector<int64_t> read_shape(const JsonValue* value, const std::vector<int64_t>& data_shape,
                                const std::vector<int64_t>* declared, const Place& place) {
  if (value == nullptr) {
    return declared != nullptr && can_be(*declared, data_shape) ? *declared : data_shape;
  }
  std::vector<int64_t> shape = as_integers(*value, place);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) place.item(i).fail("size " + std::to_string(shape[i]) + " is negative");
  }
  if (visible_part(shape) != c10::IntArrayRef(data_shape)) {
    place.fail("the data has another shape: " + c10::str(c10::IntArrayRef(data_shape)) + ", not " +
               c10::str(c10::IntArrayRef(shape)));
  }
  return shape;
}

}  // namespace

JsonValue constant_to_json(const std::string& name, const at::Tensor& tensor) {
  const ElementType type = writable_type(name, tensor);
  JsonValue json = {{"data", elements_of(tensor, type.kind)},
                    {"dtype", dtype_name(tensor.scalar_type())}};
  if (visible_part(tensor.sizes()).size() != tensor.sizes().size()) {
    json["shape"] = tensor.sizes().vec();
  }
  return json;
}

// Text with few digits goes through double on its way back, which can round twice: so each
// candidate is tried, and the exact value has the last word.
double with_fewest_digits(double value, c10::ScalarType dtype) {
  if (dtype == c10::ScalarType::Double || !std::isfinite(value)) return value;
  const FloatType& type = float_type(dtype);
  if (dtype == c10::ScalarType::Float) {
    const double candidate = number_in(fmt::format("{}", static_cast<float>(value)));
    return type.round(candidate) == value ? candidate : value;
  }
  for (int num_digits = 1; num_digits <= type.max_digits; ++num_digits) {
    const double candidate = number_in(fmt::format("{:.{}e}", value, num_digits - 1));
    if (type.round(candidate) == value) return candidate;
  }
  return value;
}

at::Tensor read_constant(const JsonValue& value, const Place& place,
                         const std::vector<int64_t>* declared) {
  const ObjectReader members(value, place, {"data", "dtype", "shape"});
  const JsonValue& data = members.get("data");
  const ElementType type = read_element_type(members.get("dtype"), place.key("dtype"));
  const Place data_place = place.key("data");
  const std::vector<int64_t> data_shape = shape_of(data, type.kind);
  const std::vector<int64_t> shape =
      read_shape(members.find("shape"), data_shape, declared, place.key("shape"));
  if (shape.size() > kMaxTensorDims) {
    place.fail(std::to_string(shape.size()) + " dimensions, more than the " +
               std::to_string(kMaxTensorDims) + " that a tensor can have");
  }
  ElementReader elements(type, data_shape);
  elements.read(data, data_place);
  try {
    return elements.make_tensor(shape, data_place);
  } catch (const c10::Error& error) {
    place.fail(error.what_without_backtrace());
  }
}

}  // namespace torch_ir
