#include "torch_ir/exporter/pt2/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace torch_ir {
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

JsonValue* Fields::find(std::string_view key) const {
  const auto member = std::ranges::find(*members_, key, &JsonValue::Object::value_type::first);
  return member == members_->end() || member->second.is_null() ? nullptr : &member->second;
}

JsonValue& Fields::get(std::string_view key) const {
  if (JsonValue* value = find(key)) return *value;
  place_.fail(fmt::format("the key '{}' is missing", key));
}

Union read_union(JsonValue& value, const Place& place) {
  JsonValue::Object& members = as_object(value, place);
  if (members.size() != 1) {
    place.fail(fmt::format("expected an object with one key, found {} keys", members.size()));
  }
  return {members.front().first, members.front().second};
}

}  // namespace torch_ir
