#include "torch_ir/ir/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

template <class T>
const T& expect(const JsonValue& value, const Place& place, const char* expected) {
  if (const auto* typed = value.get_ptr<const T*>()) return *typed;
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
  fail(std::string("expected ") + expected + ", found " + kind_of(found));
}

const JsonValue::array_t& as_list(const JsonValue& value, const Place& place) {
  return expect<JsonValue::array_t>(value, place, "a list");
}

const JsonValue::object_t& as_object(const JsonValue& value, const Place& place) {
  return expect<JsonValue::object_t>(value, place, "an object");
}

const std::string& as_string(const JsonValue& value, const Place& place) {
  return expect<std::string>(value, place, "a string");
}

bool as_boolean(const JsonValue& value, const Place& place) {
  return expect<bool>(value, place, "a boolean");
}

int64_t as_integer(const JsonValue& value, const Place& place) {
  if (value.type() == JsonValue::value_t::number_integer) return value.get<int64_t>();
  place.fail("an integer", value);
}

std::vector<int64_t> as_sizes(const JsonValue& value, const Place& place) {
  expect<JsonValue::array_t>(value, place, "a list of integers");
  std::vector<int64_t> sizes = as_list_of(value, place, as_integer);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0) place.item(i).fail("negative size " + std::to_string(sizes[i]));
  }
  return sizes;
}

double as_float(const JsonValue& value, const Place& place) {
  if (value.is_number()) return value.get<double>();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  place.fail("a float", value);
}

ObjectReader::ObjectReader(const JsonValue& value, const Place& place,
                           std::initializer_list<std::string_view> known)
    : members_(&as_object(value, place)), place_(place), skips_null_(known.size() == 0) {
  if (skips_null_) return;
  for (const auto& [key, member] : *members_) {
    if (std::ranges::find(known, key) == known.end()) {
      place.fail("unknown key '" + printable(key) + "'");
    }
  }
}

const JsonValue* ObjectReader::find(std::string_view key) const {
  const auto member = std::ranges::find(*members_, key, &JsonValue::object_t::value_type::first);
  const bool is_there = member != members_->end() && !(skips_null_ && member->second.is_null());
  return is_there ? &member->second : nullptr;
}

const JsonValue& ObjectReader::get(std::string_view key) const {
  if (const JsonValue* value = find(key)) return *value;
  place_.fail("missing key '" + std::string(key) + "'");
}

TaggedValue as_tagged(const JsonValue& value, const Place& place) {
  const JsonValue::object_t& members = as_object(value, place);
  if (members.size() != 1) {
    place.fail(fmt::format("expected an object with one key, found {} keys", members.size()));
  }
  return {members.front().first, members.front().second};
}

}  // namespace torch_ir
