// Reads a JsonValue as an expected type, with errors that name the place.
//
// All errors are SerializationError: "nodes[3].inputs[0].shape: expected a list, found a string".
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {

// A place in a document, such as nodes[3].inputs[0].shape. It is cheap: it points to its parent,
// which must outlive it.
class Place {
 public:
  Place() = default;
  Place key(std::string_view name) const { return Place(this, name, kNoIndex); }
  Place item(size_t index) const { return Place(this, {}, index); }

  // Throws SerializationError("PLACE: WHAT").
  [[noreturn]] void fail(const std::string& what) const;
  // As fail(), for content that is understood but not supported.
  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void fail(const Error& cause) const;
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

const JsonValue::array_t& as_list(const JsonValue& value, const Place& place);
const JsonValue::object_t& as_object(const JsonValue& value, const Place& place);
const std::string& as_string(const JsonValue& value, const Place& place);
bool as_boolean(const JsonValue& value, const Place& place);
int64_t as_integer(const JsonValue& value, const Place& place);
// A list of integers that are not negative.
std::vector<int64_t> as_sizes(const JsonValue& value, const Place& place);
// Also accepts an integer, and the strings "Infinity", "-Infinity" and "NaN".
double as_float(const JsonValue& value, const Place& place);

// Reads a list, using `read` for each item.
template <class Read>
auto as_list_of(const JsonValue& value, const Place& place, const Read& read) {
  const JsonValue::array_t& items = as_list(value, place);
  std::vector<std::decay_t<std::invoke_result_t<Read, const JsonValue&, const Place&>>> results;
  results.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) results.push_back(read(items[i], place.item(i)));
  return results;
}

class ObjectReader {
 public:
  // Accepts only the keys in `known`. Without them it accepts any, and treats null as a missing
  // member: for formats that later versions extend.
  ObjectReader(const JsonValue& value, const Place& place,
               std::initializer_list<std::string_view> known = {});

  // Null if there is no such member; `get` fails instead.
  const JsonValue* find(std::string_view key) const;
  const JsonValue& get(std::string_view key) const;

  template <class Read>
  decltype(auto) get(std::string_view key, const Read& read) const {
    return read(get(key), place_.key(key));
  }
  // Leaves `result` unchanged if there is no such member.
  template <class Read, class T>
  void find(std::string_view key, const Read& read, T& result) const {
    if (const JsonValue* value = find(key)) result = read(*value, place_.key(key));
  }

  template <class Result, class Read>
  Result get_or(std::string_view key, Result fallback, const Read& read) const {
    const JsonValue* value = find(key);
    return value == nullptr ? fallback : Result(read(*value, place_.key(key)));
  }
  template <class Read>
  auto get_list(std::string_view key, const Read& read) const {
    return as_list_of(get(key), place_.key(key), read);
  }

  const Place& place() const { return place_; }

 private:
  const JsonValue::object_t* members_;
  Place place_;
  bool skips_null_;
};

// An object whose only key says what kind of value it has: {"as_int": 3}.
struct TaggedValue {
  const std::string& tag;
  const JsonValue& value;
};
TaggedValue as_tagged(const JsonValue& value, const Place& place);

}  // namespace torch_ir
