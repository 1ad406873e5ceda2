// Attribute: the value of an operator argument that is not a tensor.
//
// An attribute is typed in memory (a dtype is a c10::ScalarType, not a string). Lists may be nested
// and may hold None, as `int[]?`, `bool[][]` and `float?[]` arguments do. A number that only a run
// knows, such as a dynamic size, is a reference to a value of the graph.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include <complex>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace torch_ir {

struct ValueRef {
  std::string name;

  bool operator==(const ValueRef&) const = default;
};

// Stands for an argument that no attribute can hold, and that no run can make: "an object of the
// class 'tensorrt.Engine'", "a dict".
struct Opaque {
  std::string what;

  bool operator==(const Opaque&) const = default;
};

class Attribute {
 public:
  using List = std::vector<Attribute>;
  using Value = std::variant<std::monostate, bool, int64_t, double, std::complex<double>,
                             std::string, c10::ScalarType, c10::Layout, c10::MemoryFormat,
                             c10::Device, ValueRef, Opaque, List>;

  Attribute() = default;
  Attribute(bool value) : value_(value) {}
  Attribute(int value) : value_(int64_t{value}) {}
  Attribute(int64_t value) : value_(value) {}
  Attribute(double value) : value_(value) {}
  Attribute(std::complex<double> value) : value_(value) {}
  Attribute(const char* value) : value_(std::string(value)) {}
  Attribute(std::string value) : value_(std::move(value)) {}
  Attribute(c10::ScalarType value) : value_(value) {}
  Attribute(c10::Layout value) : value_(value) {}
  Attribute(c10::MemoryFormat value) : value_(value) {}
  Attribute(c10::Device value) : value_(value) {}
  Attribute(ValueRef value) : value_(std::move(value)) {}
  Attribute(Opaque value) : value_(std::move(value)) {}
  Attribute(List value) : value_(std::move(value)) {}

  template <class T>
  static Attribute list(const T& values) {
    return Attribute(List(values.begin(), values.end()));
  }
  static Attribute list(std::initializer_list<Attribute> values) { return Attribute(List(values)); }

  const Value& value() const { return value_; }
  bool is_none() const { return std::holds_alternative<std::monostate>(value_); }

  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&value_);
  }

  // Floats are equal when their bits are, or when both are NaN: 0.0 is not -0.0.
  bool operator==(const Attribute& other) const;

 private:
  Value value_;
};

// Prints as Python does: `[1, 1]`, `True`, `None`, `torch.float32`, `'mean'`; a reference as
// `%name`.
std::ostream& operator<<(std::ostream& stream, const Attribute& attribute);
std::string attribute_text(const Attribute& attribute);

std::vector<std::string> value_refs(const Attribute& attribute);

// Replaces each reference in `attribute` with the result of `resolve`.
Attribute with_values(const Attribute& attribute,
                      const std::function<Attribute(const ValueRef&)>& resolve);

// The attributes of a node by argument name, in the order of the operator's schema. A plain list
// allocates nothing for a node without attributes.
class AttributeMap {
 public:
  using Item = std::pair<std::string, Attribute>;

  AttributeMap() = default;
  AttributeMap(std::initializer_list<Item> items) : items_(items) {}
  // `items` must not name an attribute twice.
  explicit AttributeMap(std::vector<Item> items) : items_(std::move(items)) {}

  const Attribute* find(std::string_view name) const;
  // Adds `name` at the end, or replaces its value in place.
  void set(std::string_view name, Attribute value);

  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

  bool operator==(const AttributeMap&) const = default;

 private:
  std::vector<Item> items_;
};

}  // namespace torch_ir
