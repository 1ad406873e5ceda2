#include "torch_ir/exporter/pt2/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace torch_ir {
namespace {

template <class T>
const T& expect(const JsonValue& value, const Place& place, const char* expected) {
  if (const T* typed = value.get_if<T>()) return *typed;
  place.fail(expected, value);
}

}  // namespace

const JsonValue::List& read_list(const JsonValue& value, const Place& place) {
  return expect<JsonValue::List>(value, place, "a list");
}

const JsonValue::Object& read_object(const JsonValue& value, const Place& place) {
  return expect<JsonValue::Object>(value, place, "an object");
}

const std::string& read_string(const JsonValue& value, const Place& place) {
  return expect<std::string>(value, place, "a string");
}

bool read_bool(const JsonValue& value, const Place& place) {
  return expect<bool>(value, place, "a boolean");
}

double read_float(const JsonValue& value, const Place& place) {
  if (const auto* number = value.get_if<double>()) return *number;
  if (const auto* number = value.get_if<int64_t>()) return static_cast<double>(*number);
  if (const auto* number = value.get_if<uint64_t>()) return static_cast<double>(*number);
  if (const auto* text = value.get_if<std::string>()) {
    if (*text == "Infinity") return std::numeric_limits<double>::infinity();
    if (*text == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (*text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  }
  place.fail("a float", value);
}

Fields::Fields(const JsonValue& value, const Place& place)
    : members_(&read_object(value, place)), place_(place) {}

const JsonValue* Fields::find(std::string_view key) const {
  const auto member = std::ranges::find(*members_, key, &JsonValue::Object::value_type::first);
  return member == members_->end() || member->second.is_null() ? nullptr : &member->second;
}

const JsonValue& Fields::get(std::string_view key) const {
  if (const JsonValue* value = find(key)) return *value;
  place_.fail(fmt::format("the key '{}' is missing", key));
}

Union read_union(const JsonValue& value, const Place& place) {
  const JsonValue::Object& members = read_object(value, place);
  if (members.size() != 1) {
    place.fail(fmt::format("expected an object with one key, found {} keys", members.size()));
  }
  return {members.front().first, members.front().second};
}

}  // namespace torch_ir
