// results_schema.json is what the lists of fields say:
//
//   tools/bazel run //harness/results:results_test    writes it anew

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/results/result_fields.h"
#include "harness/results/testing/schema_problem.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

using json_fields::Json;

// Names of the structs that are in several places.
template <class T>
constexpr const char* kDefinition = std::is_same_v<T, Result>             ? "result"
                                    : std::is_same_v<T, ModelFiles>       ? "model_files"
                                    : std::is_same_v<T, Tolerance>        ? "tolerance"
                                    : std::is_same_v<T, ToleranceRule>    ? "tolerance_rule"
                                    : std::is_same_v<T, TensorComparison> ? "comparison"
                                    : std::is_same_v<T, OwnError>         ? "own_error"
                                    : std::is_same_v<T, ValueDetail>      ? "value"
                                    : std::is_same_v<T, TensorStatistics> ? "statistics"
                                                                          : nullptr;

Json& definitions() {
  static Json all = Json::object();
  return all;
}

template <class T>
Json schema_of(const T& value = {});

// Collects the properties of a struct.
struct Describer {
  static constexpr bool kReads = false;
  Json& schema;

  template <class T>
  void operator()(const char* key, const T& value) const {
    unless_empty(key, value);
    schema["required"].push_back(key);
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) const {
    unless_empty(key, value);
  }
  template <class T>
  void required(const char* key, const T& value) const {
    (*this)(key, value);
  }
  template <class T>
  void nullable(const char* key, const std::optional<T>& value) const {
    schema["required"].push_back(key);
    schema["properties"][key] = {{"anyOf", {{{"type", "null"}}, schema_of(value)}}};
  }
  template <class T>
  void unless_empty(const char* key, const T& value) const {
    schema["properties"][key] = schema_of(value);
  }
};

template <class T>
Json names_of() {
  if constexpr (requires { kNaming<T>.names(); }) return {{"enum", kNaming<T>.names()}};
  return {{"type", "string"}};
}

template <class T>
Json object_of(const T& value) {
  Json schema = {{"type", "object"}, {"required", Json::array()}};
  fields(Describer{schema}, const_cast<T&>(value));
  return schema;
}

template <class T>
Json schema_of(const T& value) {
  if constexpr (requires { value.has_value(); }) {
    return schema_of(value.value_or(typename T::value_type()));
  } else if constexpr (json_fields::Struct<T>) {
    if constexpr (kDefinition<T> == nullptr) return object_of(value);
    const char* name = kDefinition<T>;
    if (!definitions().contains(name)) definitions()[name] = object_of(value);
    return {{"$ref", std::string("#/definitions/") + name}};
  } else if constexpr (json_fields::Named<T>) {
    return names_of<T>();
  } else if constexpr (json_fields::Variant<T>) {
    return []<class... Held>(const std::variant<Held...>&) -> Json {
      return {{"anyOf", {schema_of<Held>()...}}};
    }(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return {{"$ref", "#/definitions/number"}};
  } else if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_unsigned_v<T>) {
    return {{"type", "integer"}, {"minimum", 0}};
  } else if constexpr (std::is_integral_v<T>) {
    return {{"type", "integer"}};
  } else if constexpr (std::is_constructible_v<std::string, T>) {
    return {{"type", "string"}};
  } else if constexpr (json_fields::Map<T>) {
    return {{"type", "object"}, {"additionalProperties", schema_of<typename T::mapped_type>()}};
  } else if constexpr (json_fields::Entries<T>) {
    using Item = typename T::value_type::second_type;
    return {{"type", "object"}, {"additionalProperties", schema_of<Item>()}};
  } else {
    Json schema = {{"type", "array"}, {"items", schema_of<typename T::value_type>()}};
    if constexpr (!requires(T& list) { list.emplace_back(); }) {
      schema["minItems"] = schema["maxItems"] = value.size();
    }
    return schema;
  }
}

// As many items in a line as fit.
std::string text_of(const Json& tree, const std::string& indent = "") {
  if (!tree.is_structured()) return tree.dump();
  std::vector<std::string> items;
  size_t length = indent.size();
  for (const auto& [key, item] : tree.items()) {
    items.push_back((tree.is_object() ? '"' + key + "\": " : "") + text_of(item, indent + "  "));
    length += items.back().size() + 2;
  }
  const std::string line = length <= 90 ? "" : "\n" + indent;
  const std::string deeper = line.empty() ? "" : line + "  ";
  return fmt::format("{}{}{}{}{}", tree.is_object() ? '{' : '[', deeper,
                     fmt::join(items, deeper.empty() ? ", " : "," + deeper), line,
                     tree.is_object() ? '}' : ']');
}

Json without(const Json& list, const Json& others) {
  Json rest = Json::array();
  for (const Json& key : list) {
    if (std::ranges::find(others, key) == others.end()) rest.push_back(key);
  }
  return rest;
}

// As write_results writes it.
Json results_schema() {
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"title", "torch-ir results, version 3"},
                 {"description", "See results_format.md. Readers must ignore unknown keys."}};
  schema.update(object_of(RunRecord()));
  schema["properties"]["format"] = {{"const", kResultsFormat}};
  schema["properties"]["version"] = {{"const", kResultsVersion}};
  // With a baseline.
  schema["properties"]["notes"] = schema_of(std::vector<std::string>());
  Json change = object_of(FigureChange());
  change["properties"]["name"] = schema_of(std::string());
  change["required"].push_back("name");
  schema["properties"]["changes"] = {{"type", "array"}, {"items", change}};
  // Only between processes.
  const Json unseen = {"is_searching", "current_trial", "current_trial_name"};
  Json result = definitions()["result"];
  for (const Json& key : unseen) result["properties"].erase(key.get<std::string>());
  const Json in_cases = without(object_of(Result{.call = CallInfo()})["required"], unseen);
  result["if"] = {{"not", {{"required", {"call"}}}}};
  result["then"] = {{"required", without(without(result["required"], unseen), in_cases)}};
  result["required"] = in_cases;
  definitions()["result"] = result;
  definitions()["number"] = {{"anyOf", {{{"type", "number"}}, {{"enum", {"nan", "inf", "-inf"}}}}}};
  schema["definitions"] = definitions();
  return schema;
}

TEST(ResultsSchemaTest, IsWhatTheListsOfFieldsSay) {
  const std::string text = text_of(results_schema()) + "\n";
  if (const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY")) {
    write_file(std::string(workspace) + "/harness/results/results_schema.json", text);
  }
  EXPECT_EQ(read_file("harness/results/results_schema.json"), text)
      << "tools/bazel run //harness/results:results_test writes it anew";
}

TEST(ResultsSchemaTest, EveryKeyHasItsWordsInTheFormatPage) {
  const std::string page = read_file("harness/results/results_format.md");
  nlohmann::json schema = results_schema();
  for_each_object(schema, [&](nlohmann::json& object) {
    if (!object.contains("properties")) return;
    for (const auto& [key, value] : object["properties"].items()) {
      EXPECT_THAT(page, ::testing::HasSubstr("`" + key + "`"));
    }
  });
}

}  // namespace
}  // namespace torch_ir
