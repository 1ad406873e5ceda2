#include "torch_ir/ir/json_constants.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/view_as_real.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"

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

// The elements of a constant, wide enough for all dtypes of their kind.
class ElementWriter {
 public:
  ElementWriter(const at::Tensor& tensor, const ElementType& type, JsonWriter& writer)
      : type_(type), writer_(writer) {
    const at::Tensor plain = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous();
    switch (type.kind) {
      case ElementKind::kBool:
      case ElementKind::kInteger:
        wide_ = plain.to(ScalarType::Long);
        break;
      case ElementKind::kUInt64:
        wide_ = plain.view(ScalarType::Long);
        break;
      case ElementKind::kFloat:
        wide_ = plain.to(ScalarType::Double);
        break;
      case ElementKind::kComplex:
        real_dtype_ = c10::toRealValueType(type.dtype);
        wide_ = at::view_as_real(plain.to(ScalarType::ComplexDouble));
        break;
    }
  }

  void write(c10::IntArrayRef shape) {
    if (shape.empty()) return write_element();
    writer_.begin_list();
    for (int64_t i = 0; i < shape.front(); ++i) write(shape.slice(1));
    writer_.end_list();
  }

 private:
  void write_element() {
    switch (type_.kind) {
      case ElementKind::kBool:
        return writer_.boolean(next<int64_t>() != 0);
      case ElementKind::kInteger:
        return writer_.integer(next<int64_t>());
      case ElementKind::kUInt64:
        return writer_.unsigned_integer(std::bit_cast<uint64_t>(next<int64_t>()));
      case ElementKind::kFloat:
        return writer_.raw(python_float(next<double>(), type_.dtype));
      case ElementKind::kComplex:
        writer_.begin_list();
        writer_.raw(python_float(next<double>(), real_dtype_));
        writer_.raw(python_float(next<double>(), real_dtype_));
        writer_.end_list();
    }
  }

  template <class T>
  T next() {
    return wide_.const_data_ptr<T>()[position_++];
  }

  const ElementType type_;
  JsonWriter& writer_;
  at::Tensor wide_;
  ScalarType real_dtype_ = ScalarType::Undefined;
  int64_t position_ = 0;
};

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

// --- Reading ---

bool is_leaf(const JsonValue& value, ElementKind kind) {
  const auto* list = value.get_if<JsonValue::List>();
  if (list == nullptr) return true;
  return kind == ElementKind::kComplex && list->size() == 2 &&
         list->front().get_if<JsonValue::List>() == nullptr;
}

// As the first element of each level has it; ElementReader checks the others.
std::vector<int64_t> shape_of(const JsonValue& data, ElementKind kind) {
  std::vector<int64_t> shape;
  for (const JsonValue* value = &data; !is_leaf(*value, kind);) {
    const auto& list = *value->get_if<JsonValue::List>();
    shape.push_back(static_cast<int64_t>(list.size()));
    if (list.empty()) break;
    value = &list.front();
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
    const auto* list = value.get_if<JsonValue::List>();
    const auto size = static_cast<size_t>(shape_[depth]);
    if (list == nullptr || list->size() != size) {
      const std::string found =
          list == nullptr ? value.kind() : "a list of " + std::to_string(list->size());
      place.fail("expected a list of " + std::to_string(size) +
                 ", as long as the others of its level, found " + found);
    }
    for (size_t i = 0; i < size; ++i) read((*list)[i], place.item(i), depth + 1);
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
    const bool* element = value.get_if<bool>();
    if (element == nullptr) place.fail("true or false", value);
    integers_.push_back(*element);
  }

  void read_integer(const JsonValue& value, const Place& place) {
    const int64_t element = as_integer(value, place);
    if (!is_in_range(element, type_.dtype)) fail_range(std::to_string(element), place);
    integers_.push_back(element);
  }

  void read_uint64(const JsonValue& value, const Place& place) {
    if (const auto* large = value.get_if<uint64_t>()) {
      integers_.push_back(std::bit_cast<int64_t>(*large));
      return;
    }
    const int64_t element = as_integer(value, place);
    if (element < 0) fail_range(std::to_string(element), place);
    integers_.push_back(element);
  }

  void read_float(const JsonValue& value, const Place& place) {
    if (const double* element = value.get_if<double>()) {
      floats_.push_back(*element);
    } else if (const auto* integer = value.get_if<int64_t>()) {
      floats_.push_back(static_cast<double>(*integer));
    } else if (const auto* large = value.get_if<uint64_t>()) {
      floats_.push_back(static_cast<double>(*large));
    } else {
      place.fail("a number", value);
    }
  }

  void read_complex(const JsonValue& value, const Place& place) {
    const auto* pair = value.get_if<JsonValue::List>();
    if (pair == nullptr || pair->size() != 2) place.fail("[re, im]", value);
    read_float((*pair)[0], place.item(0));
    read_float((*pair)[1], place.item(1));
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

void write_constant(const std::string& name, const at::Tensor& tensor, JsonWriter& writer) {
  const ElementType type = writable_type(name, tensor);
  writer.begin_object();
  writer.key("data");
  ElementWriter(tensor, type, writer).write(visible_part(tensor.sizes()));
  writer.key("dtype").string(dtype_name(tensor.scalar_type()));
  if (visible_part(tensor.sizes()).size() != tensor.sizes().size()) {
    writer.key("shape").list(tensor.sizes(), [&](int64_t size) { writer.integer(size); });
  }
  writer.end_object();
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
