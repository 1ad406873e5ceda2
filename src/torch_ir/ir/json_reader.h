// Reading a JsonValue as what it must be, with errors that name the place.
//
// Used by json.cc and json_constants.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {

// A place in a document, such as nodes[3].inputs[0].shape. It costs nothing until a message needs
// it: it points to its parent, which must outlive it.
class Place {
 public:
  Place() = default;
  Place key(std::string_view name) const { return Place(this, name, kNoIndex); }
  Place item(size_t index) const { return Place(this, {}, index); }

  // Throws SerializationError("PLACE: WHAT").
  [[noreturn]] void fail(const std::string& what) const;
  // The same, for what is understood but not supported.
  [[noreturn]] void refuse(const std::string& what) const;
  // The same, for what `cause` says.
  [[noreturn]] void fail(const Error& cause) const;
  // Throws that `expected` was expected and `found` was found.
  [[noreturn]] void fail(const char* expected, const JsonValue& found) const;

 private:
  static constexpr size_t kNoIndex = static_cast<size_t>(-1);

  Place(const Place* parent, std::string_view name, size_t index)
      : parent_(parent), name_(name), index_(index) {}

  std::string text() const;
  std::string at(const std::string& what) const;

  const Place* parent_ = nullptr;
  std::string_view name_;
  size_t index_ = kNoIndex;
};

// The members of an object that may have the keys `known` and no others.
class ObjectReader {
 public:
  ObjectReader(JsonValue& value, const Place& place, std::initializer_list<std::string_view> known);

  // The member's value, or null when there is none.
  JsonValue* find(std::string_view key) const;
  // The member's value; a missing one is an error.
  JsonValue& get(std::string_view key) const;

 private:
  JsonValue::Object* members_;
  Place place_;
};

JsonValue::List& as_list(JsonValue& value, const Place& place);
JsonValue::Object& as_object(JsonValue& value, const Place& place);
// Taken out of `value`.
std::string take_string(JsonValue& value, const Place& place);
bool as_boolean(const JsonValue& value, const Place& place);
int64_t as_integer(const JsonValue& value, const Place& place);
std::vector<int64_t> as_integers(JsonValue& value, const Place& place);

}  // namespace torch_ir
