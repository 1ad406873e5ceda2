// JSON text as Python's json module reads it, parsed into a tree.
//
// Used where a file is JSON: IR files, archives, headers of safetensors. Bare NaN, Infinity and
// -Infinity are numbers. Stricter than Python in what hides mistakes: a key that occurs twice in
// an object, an integer beyond 64 bits, a float beyond double, and more levels and values than
// limits.h allows are errors. Object members keep their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace torch_ir {

class JsonValue {
 public:
  using List = std::vector<JsonValue>;
  using Object = std::vector<std::pair<std::string, JsonValue>>;
  // std::monostate is null; uint64_t holds only what int64_t can not.
  using Value =
      std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, List, Object>;

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }

  // The value as `T`, or null when it is of another type.
  template <class T>
  T* get_if() {
    return std::get_if<T>(&value_);
  }
  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&value_);
  }

  // Calls `visitor` with the value, as std::visit.
  template <class Visitor>
  decltype(auto) visit(const Visitor& visitor) {
    return std::visit(visitor, value_);
  }

  // Replaces the value, null at first.
  template <class T>
  T& set(T value) {
    return value_.template emplace<T>(std::move(value));
  }

  // As written: 1 is not 1.0, members in another order are another object, and NaN equals nothing.
  bool operator==(const JsonValue&) const = default;

  // What it is, for messages: "a string", "an integer", "a list".
  const char* kind() const;

 private:
  Value value_;
};

// Throws SerializationError that says where `text` stops being JSON. Too many values are refused
// before any is made.
JsonValue parse_json(std::string_view text);
JsonValue parse_json(std::string_view text, size_t max_values);

}  // namespace torch_ir
