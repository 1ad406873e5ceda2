// Reading the JSON of archives.
//
// Archives are written by many versions of PyTorch, and later minor versions of the schema add
// keys to objects: unknown keys are ignored, and null is the same as a missing key. What an object
// says as a union is another matter: a kind that is not known is refused. All errors are
// SerializationError and name the place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {

// `value` as what it must be.
const JsonValue::List& read_list(const JsonValue& value, const Place& place);
const JsonValue::Object& read_object(const JsonValue& value, const Place& place);
const std::string& read_string(const JsonValue& value, const Place& place);
bool read_bool(const JsonValue& value, const Place& place);
// Also an integer, and "Infinity", "-Infinity" and "NaN" as strings.
double read_float(const JsonValue& value, const Place& place);

// The members of an object.
class Fields {
 public:
  Fields(const JsonValue& value, const Place& place);

  // The member's value, or null when there is none or it is null.
  const JsonValue* find(std::string_view key) const;
  // The member's value; a missing one is an error.
  const JsonValue& get(std::string_view key) const;

  const Place& place() const { return place_; }

 private:
  const JsonValue::Object* members_;
  Place place_;
};

// An object with one key, which says what kind of value it has: {"as_int": 3}.
struct Union {
  const std::string& kind;
  const JsonValue& value;
};
Union read_union(const JsonValue& value, const Place& place);

}  // namespace torch_ir
