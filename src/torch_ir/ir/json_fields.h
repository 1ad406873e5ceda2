// json_fields: converts structs to JSON and back, from one list of fields.
//
// A struct lists its fields in a function `fields(visit, value)` beside it, which calls
//
//   visit("key", value.member)           a missing key leaves the member unchanged; an empty
//                                        optional is not written
//   visit.required("key", value.member)  a missing key is an error
//   visit.nullable("key", optional)      null if empty
//   visit.unless_empty("key", list)      not written if empty
//
// or, for structs whose keys are the names of their members, in TORCH_IR_FIELDS(Struct,
// members...) of field_list.h.
//
// `Visit::kReads` is the direction. Enumerations are written by name, non-finite numbers as "nan",
// "inf" and "-inf".
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/field_list.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {

// Converts a value to its name and back.
template <class Name, class Parse>
struct Naming {
  Name name;
  Parse parse;
};

// Specialize it for types that are written by name.
template <class T>
inline constexpr bool kNaming = false;

// The naming of the values in `kAll`. `parse` throws Error for an unknown name.
template <const auto& kAll, auto kName>
struct ListNaming {
  static auto name(const auto& value) { return kName(value); }
  static std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const auto& value : kAll) names.emplace_back(kName(value));
    return names;
  }
  static auto parse(std::string_view name) {
    const auto value = std::ranges::find(kAll, name, kName);
    if (value != kAll.end()) return *value;
    throw Error(fmt::format("unknown name '{}'; expected one of: {}", printable(name),
                            fmt::join(names(), ", ")));
  }
};

namespace json_fields {

using Json = nlohmann::ordered_json;

template <class T>
Json write(const T& value);
template <class T>
void read(const Json& json, T& value);

// An error in a value and its JSON pointer, which is built while unwinding.
struct Problem {
  std::string what = {};
  std::string place = {};
};

inline void expect(bool is_met, const char* what, const Json& json) {
  if (is_met) return;
  const std::string found = json.is_structured()
                                ? json.type_name()
                                : json.dump(-1, ' ', true, Json::error_handler_t::replace);
  throw Problem{fmt::format("expected {}, found {}", what, printable(found))};
}

template <class Key, class T>
void read_at(const Key& key, const Json& json, T& value) {
  try {
    read(json, value);
  } catch (Problem& problem) {
    problem.place.insert(0, fmt::format("/{}", key));
    throw;
  }
}

struct Writer {
  static constexpr bool kReads = false;
  Json& json;

  template <class T>
  void operator()(const char* key, const T& value) const {
    json[key] = write(value);
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) const {
    if (value) json[key] = write(*value);
  }
  template <class T>
  void required(const char* key, const T& value) const {
    json[key] = write(value);
  }
  template <class T>
  void nullable(const char* key, const std::optional<T>& value) const {
    json[key] = value ? write(*value) : Json();
  }
  template <class T>
  void unless_empty(const char* key, const T& value) const {
    if (!value.empty()) (*this)(key, value);
  }
};

struct Reader {
  static constexpr bool kReads = true;
  const Json& json;

  template <class T>
  void operator()(const char* key, T& value) const {
    if (const Json* member = find(key)) read_at(key, *member, value);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& value) const {
    value.reset();
    const Json* member = find(key);
    if (member != nullptr && !member->is_null()) read_at(key, *member, value.emplace());
  }
  template <class T>
  void required(const char* key, T& value) const {
    expect(json.is_object(), "an object", json);
    if (!json.contains(key)) throw Problem{fmt::format("missing key '{}'", key)};
    (*this)(key, value);
  }
  template <class T>
  void nullable(const char* key, std::optional<T>& value) const {
    (*this)(key, value);
  }
  template <class T>
  void unless_empty(const char* key, T& value) const {
    (*this)(key, value);
  }

 private:
  const Json* find(const char* key) const {
    expect(json.is_object(), "an object", json);
    const auto member = json.find(key);
    return member == json.end() ? nullptr : &*member;
  }
};

template <class T>
concept Struct = requires(const Writer& writer, T& value) { fields(writer, value); };
template <class T>
concept Named = !std::is_same_v<decltype(kNaming<T>), const bool>;
template <class T>
concept Map = requires { typename T::mapped_type; };
// A list of named values, written as an object in its order.
template <class T>
concept Entries = std::is_same_v<typename T::value_type::first_type, std::string>;
template <class T>
concept Variant = requires { std::variant_size<T>::value; };

template <class T>
Json write(const T& value) {
  if constexpr (Struct<T>) {
    Json json = Json::object();
    // A list of fields serves both directions; a writer changes nothing.
    fields(Writer{json}, const_cast<T&>(value));
    return json;
  } else if constexpr (Named<T>) {
    return kNaming<T>.name(value);
  } else if constexpr (Variant<T>) {
    return std::visit([](const auto& held) { return write(held); }, value);
  } else if constexpr (std::is_same_v<T, double>) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
  } else if constexpr (std::is_constructible_v<std::string, T> || std::is_integral_v<T> ||
                       std::is_same_v<T, Json>) {
    return value;
  } else if constexpr (Map<T> || Entries<T>) {
    Json json = Json::object();
    for (const auto& [key, item] : value) json[fmt::format("{}", key)] = write(item);
    return json;
  } else {
    Json json = Json::array();
    for (const auto& item : value) json.push_back(write(item));
    return json;
  }
}

inline double read_number(const Json& json) {
  if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  expect(json.is_number(), "a number, \"nan\", \"inf\" or \"-inf\"", json);
  return json.get<double>();
}

template <Named T>
T read_name(const Json& json) {
  expect(json.is_string(), "a string", json);
  try {
    return kNaming<T>.parse(json.get<std::string>());
  } catch (const std::exception& error) {
    const std::string_view text = error.what();
    throw Problem{printable(text.substr(0, text.find('\n')))};
  }
}

template <class T>
bool is_in_range(const Json& json) {
  return json.is_number_unsigned() ? std::in_range<T>(json.get<uint64_t>())
                                   : std::in_range<T>(json.get<int64_t>());
}

inline size_t read_position(const std::string& key) {
  constexpr size_t kMostDigits = 9;
  const bool is_number = key.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || key.empty() || key.size() > kMostDigits) {
    throw Problem{"invalid position '" + printable(key) + "'"};
  }
  return std::stoul(key);
}

// Takes the first alternative that fits: a name, or a struct by its required members.
template <size_t I, class T>
void read_variant(const Json& json, T& value) {
  if constexpr (I + 1 == std::variant_size_v<T>) {
    read(json, value.template emplace<I>());
  } else {
    try {
      read(json, value.template emplace<I>());
    } catch (const Problem&) {
      read_variant<I + 1>(json, value);
    }
  }
}

template <class T>
void read(const Json& json, T& value) {
  if constexpr (Struct<T>) {
    expect(json.is_object(), "an object", json);
    fields(Reader{json}, value);
  } else if constexpr (Named<T>) {
    value = read_name<T>(json);
  } else if constexpr (Variant<T>) {
    read_variant<0>(json, value);
  } else if constexpr (std::is_same_v<T, double>) {
    value = read_number(json);
  } else if constexpr (std::is_same_v<T, bool>) {
    expect(json.is_boolean(), "true or false", json);
    value = json.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    expect(json.is_number_integer(), "an integer", json);
    expect(is_in_range<T>(json), "a smaller integer", json);
    value = json.get<T>();
  } else if constexpr (std::is_same_v<T, Json>) {
    value = json;
  } else if constexpr (std::is_same_v<T, std::string>) {
    expect(json.is_string(), "a string", json);
    value = json.get<std::string>();
  } else if constexpr (Entries<T>) {
    expect(json.is_object(), "an object", json);
    value.clear();
    for (const auto& [key, item] : json.items()) {
      read_at(printable(key), item,
              value.emplace_back(key, typename T::value_type::second_type()).second);
    }
  } else if constexpr (Map<T>) {
    expect(json.is_object(), "an object", json);
    value.clear();
    for (const auto& [key, item] : json.items()) read_at(key, item, value[read_position(key)]);
  } else if constexpr (requires { value.emplace_back(); }) {
    expect(json.is_array(), "a list", json);
    value.clear();
    for (size_t i = 0; i < json.size(); ++i) read_at(i, json[i], value.emplace_back());
  } else {
    expect(json.is_array() && json.size() == value.size(), "a list of the right length", json);
    for (size_t i = 0; i < value.size(); ++i) read_at(i, json[i], value[i]);
  }
}

// Parses `text` and returns the result of `read_document`. Throws SerializationError with one line
// that names the place.
template <class Read>
auto parse(std::string_view text, const Read& read_document) {
  try {
    return read_document(parse_json(text, kMaxDocumentValues));
  } catch (const Problem& problem) {
    throw SerializationError(problem.place.empty() ? problem.what
                                                   : problem.place + ": " + problem.what);
  }
}

template <class T>
T parse_as(std::string_view text) {
  return parse(text, [](const Json& json) {
    T value;
    read(json, value);
    return value;
  });
}

}  // namespace json_fields
}  // namespace torch_ir
