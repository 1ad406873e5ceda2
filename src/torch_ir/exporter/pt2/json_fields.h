// Reading the JSON of archives.
//
// Archives are written by many versions of PyTorch, and later minor versions of the schema add
// keys to objects: unknown keys are ignored, and null is the same as a missing key. What an object
// says as a union is another matter: a kind that is not known is refused. All errors are
// SerializationError and name the place. As in ir/json_reader.h, strings are taken out of the JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {

// Also an integer, and "Infinity", "-Infinity" and "NaN" as strings.
double read_float(const JsonValue& value, const Place& place);

// What `read(value, place)` makes of the items of a list.
template <class Read>
auto read_items(JsonValue& value, const Place& place, Read read) {
  JsonValue::List& items = as_list(value, place);
  std::vector<decltype(read(value, place))> results;
  results.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) results.push_back(read(items[i], place.item(i)));
  return results;
}

// The members of an object.
class Fields {
 public:
  Fields(JsonValue& value, const Place& place)
      : members_(&as_object(value, place)), place_(place) {}

  const Place& place() const { return place_; }

  // The member's value, or null when there is none or it is null.
  JsonValue* find(std::string_view key) const;
  // The member's value; a missing one is an error.
  JsonValue& get(std::string_view key) const;

  // What `reader(value, place)` makes of a member.
  template <class Read>
  auto read(std::string_view key, Read reader) const {
    return reader(get(key), place_.key(key));
  }
  // The same; `fallback` where there is none.
  template <class Result, class Read>
  Result read_or(std::string_view key, Result fallback, Read reader) const {
    JsonValue* value = find(key);
    return value == nullptr ? fallback : Result(reader(*value, place_.key(key)));
  }
  // What `reader` makes of the items of a member that is a list.
  template <class Read>
  auto items(std::string_view key, Read reader) const {
    return read_items(get(key), place_.key(key), reader);
  }
  std::string text(std::string_view key) const { return read(key, take_string); }

 private:
  JsonValue::Object* members_;
  Place place_;
};

// An object with one key, which says what kind of value it has: {"as_int": 3}.
struct Union {
  const std::string& kind;
  JsonValue& value;
};
Union read_union(JsonValue& value, const Place& place);

}  // namespace torch_ir
