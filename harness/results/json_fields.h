// Structs to JSON objects and back, by one list of fields for both.
//
// A struct names its fields in a function `fields(visit, value)` beside it, which calls
// visit("key", value.member) for each. Numbers that JSON does not have are "nan", "inf" and "-inf";
// an empty optional is left out.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace torch_ir::json_fields {

using Json = nlohmann::ordered_json;

inline Json write(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

inline void read(const Json& json, double& value) {
  if (json.is_number()) {
    value = json.get<double>();
    return;
  }
  const std::string text = json.get<std::string>();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text != "nan" && text != "inf" && text != "-inf") {
    throw std::invalid_argument("'" + text + "' is no number");
  }
  value = text == "nan" ? std::numeric_limits<double>::quiet_NaN()
                        : (text == "inf" ? kInfinity : -kInfinity);
}

template <class T>
concept Plain = std::is_integral_v<T> || std::is_same_v<T, std::string>;

template <Plain T>
Json write(const T& value) {
  return value;
}
template <Plain T>
void read(const Json& json, T& value) {
  value = json.get<T>();
}

struct Writer {
  Json& json;

  template <class T>
  void operator()(const char* key, const T& value) const;
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) const;
};

struct Reader {
  const Json& json;

  template <class T>
  void operator()(const char* key, T& value) const;
  template <class T>
  void operator()(const char* key, std::optional<T>& value) const;
};

template <class T>
concept Struct = requires(const Writer& writer, T& value) { fields(writer, value); };

// All of them, before any of them calls another.
template <Struct T>
Json write(const T& value);
template <Struct T>
void read(const Json& json, T& value);
template <class T>
Json write(const std::vector<T>& values);
template <class T>
void read(const Json& json, std::vector<T>& values);
template <class T, size_t N>
Json write(const std::array<T, N>& values);
template <class T, size_t N>
void read(const Json& json, std::array<T, N>& values);
template <class T>
Json write(const std::map<size_t, T>& values);
template <class T>
void read(const Json& json, std::map<size_t, T>& values);

template <class T>
void Writer::operator()(const char* key, const T& value) const {
  json[key] = write(value);
}
template <class T>
void Writer::operator()(const char* key, const std::optional<T>& value) const {
  if (value) json[key] = write(*value);
}

template <class T>
void Reader::operator()(const char* key, T& value) const {
  read(json.at(key), value);
}
template <class T>
void Reader::operator()(const char* key, std::optional<T>& value) const {
  value.reset();
  if (json.contains(key)) read(json.at(key), value.emplace());
}

template <Struct T>
Json write(const T& value) {
  Json json = Json::object();
  // The list of fields is for both directions; a writer changes none.
  fields(Writer{json}, const_cast<T&>(value));
  return json;
}
template <Struct T>
void read(const Json& json, T& value) {
  fields(Reader{json}, value);
}

template <class T>
Json write(const std::vector<T>& values) {
  Json json = Json::array();
  for (const T& value : values) json.push_back(write(value));
  return json;
}
template <class T>
void read(const Json& json, std::vector<T>& values) {
  values.clear();
  for (const Json& item : json) read(item, values.emplace_back());
}

template <class T, size_t N>
Json write(const std::array<T, N>& values) {
  Json json = Json::array();
  for (const T& value : values) json.push_back(write(value));
  return json;
}
template <class T, size_t N>
void read(const Json& json, std::array<T, N>& values) {
  for (size_t i = 0; i < N; ++i) read(json.at(i), values[i]);
}

template <class T>
Json write(const std::map<size_t, T>& values) {
  Json json = Json::object();
  for (const auto& [key, value] : values) json[std::to_string(key)] = write(value);
  return json;
}
template <class T>
void read(const Json& json, std::map<size_t, T>& values) {
  values.clear();
  for (const auto& [key, value] : json.items()) read(value, values[std::stoull(key)]);
}

}  // namespace torch_ir::json_fields
