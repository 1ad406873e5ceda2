#include "harness/results/testing/schema_problem.h"

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

using nlohmann::json;

json strict_schema() {
  json schema = json::parse(read_file("harness/results/results_schema.json"));
  for_each_object(schema, [](json& object) {
    const bool is_struct = object.contains("properties") && object["properties"].is_object();
    if (is_struct && object.contains("required")) object["additionalProperties"] = false;
  });
  return schema;
}

}  // namespace

void for_each_object(json& value, const std::function<void(json&)>& visit) {
  if (value.is_object()) visit(value);
  if (!value.is_structured()) return;
  for (json& item : value) for_each_object(item, visit);
}

std::string schema_problem(const json& results) {
  const json document = strict_schema();
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
