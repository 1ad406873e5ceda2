#include "torch_ir/ir/json_reader.h"

#include <algorithm>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

template <class T>
T& expect(JsonValue& value, const Place& place, const char* expected) {
  if (T* typed = value.get_if<T>()) return *typed;
  place.fail(expected, value);
}

}  // namespace

std::string Place::text() const {
  if (parent_ == nullptr) return "";
  const std::string before = parent_->text();
  if (index_ != kNoIndex) return before + '[' + std::to_string(index_) + ']';
  return before.empty() ? printable(name_) : before + '.' + printable(name_);
}

std::string Place::at(const std::string& what) const {
  const std::string place = text();
  return place.empty() ? what : place + ": " + what;
}

void Place::fail(const std::string& what) const { throw SerializationError(at(what)); }

void Place::refuse(const std::string& what) const {
  throw SerializationError(kNotSupported, at(what));
}

void Place::fail(const Error& cause) const { throw SerializationError(cause, at(cause.what())); }

void Place::fail(const char* expected, const JsonValue& found) const {
  fail(std::string("expected ") + expected + ", found " + found.kind());
}

ObjectReader::ObjectReader(JsonValue& value, const Place& place,
                           std::initializer_list<std::string_view> known)
    : members_(&as_object(value, place)), place_(place) {
  for (const auto& [key, member] : *members_) {
    if (std::ranges::find(known, key) == known.end())
      place.fail("unknown key '" + printable(key) + "'");
  }
}

JsonValue* ObjectReader::find(std::string_view key) const {
  const auto member = std::ranges::find(*members_, key, &JsonValue::Object::value_type::first);
  return member == members_->end() ? nullptr : &member->second;
}

JsonValue& ObjectReader::get(std::string_view key) const {
  if (JsonValue* value = find(key)) return *value;
  place_.fail("the key '" + std::string(key) + "' is missing");
}

JsonValue::List& as_list(JsonValue& value, const Place& place) {
  return expect<JsonValue::List>(value, place, "a list");
}

JsonValue::Object& as_object(JsonValue& value, const Place& place) {
  return expect<JsonValue::Object>(value, place, "an object");
}

std::string take_string(JsonValue& value, const Place& place) {
  return std::move(expect<std::string>(value, place, "a string"));
}

bool as_boolean(const JsonValue& value, const Place& place) {
  if (const auto* boolean = value.get_if<bool>()) return *boolean;
  place.fail("a boolean", value);
}

int64_t as_integer(const JsonValue& value, const Place& place) {
  if (const auto* integer = value.get_if<int64_t>()) return *integer;
  place.fail("an integer", value);
}

std::vector<int64_t> as_integers(JsonValue& value, const Place& place) {
  const auto& items = expect<JsonValue::List>(value, place, "a list of integers");
  std::vector<int64_t> integers;
  integers.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    integers.push_back(as_integer(items[i], place.item(i)));
  }
  return integers;
}

}  // namespace torch_ir
