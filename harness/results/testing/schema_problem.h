// Checks files against their schemas.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "torch_ir/base/file.h"

namespace torch_ir {

inline void for_each_object(nlohmann::json& value,
                            const std::function<void(nlohmann::json&)>& visit) {
  if (value.is_object()) visit(value);
  if (!value.is_structured()) return;
  for (nlohmann::json& item : value) for_each_object(item, visit);
}

inline nlohmann::json strict_schema(const char* file) {
  nlohmann::json schema = nlohmann::json::parse(read_file(file));
  for_each_object(schema, [](nlohmann::json& object) {
    const bool is_struct = object.contains("properties") && object["properties"].is_object();
    if (is_struct && object.contains("required")) object["additionalProperties"] = false;
  });
  return schema;
}

// Empty if `results` are valid. Unlike the schema itself, this rejects unknown keys.
inline std::string schema_problem(const nlohmann::json& results,
                                  const char* file = "harness/results/results_schema.json") {
  const nlohmann::json document = strict_schema(file);
  valijson::Schema schema;
  valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(document),
                                          schema);
  valijson::ValidationResults found;
  valijson::Validator validator;
  if (validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(results), &found)) {
    return {};
  }
  std::string text = "invalid\n";
  for (valijson::ValidationResults::Error error; found.popError(error);) {
    for (const std::string& step : error.context) text += step;
    text += ": " + error.description + "\n";
  }
  return text;
}

}  // namespace torch_ir
