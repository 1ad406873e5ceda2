#include "harness/selection/listing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

using Json = nlohmann::ordered_json;

struct Row {
  std::string model;
  std::string categories;
  std::string description;
};

Json describe(const ModelInput& input) {
  return {{"name", input.name}, {"shape", input.shape}, {"dtype", dtype_name(input.dtype)}};
}

Json describe(const RegisteredModel& model) {
  Json inputs = Json::array();
  for (const ModelInput& input : model.spec.inputs) inputs.push_back(describe(input));
  Json json = {{"name", model.name},
               {"categories", model.spec.categories},
               {"description", model.spec.description},
               {"inputs", std::move(inputs)}};
  if (const auto& expected = model.spec.expected_failure) {
    json["expected_failure"] = {{"kind", failure_kind_name(expected->kind)},
                                {"reason", expected->reason}};
  }
  return json;
}

std::string text(const Json& json) { return json.dump(2) + "\n"; }

}  // namespace

std::string models_table(const std::vector<RegisteredModel>& models) {
  std::vector<Row> rows = {{"model", "categories", "description"}};
  for (const RegisteredModel& model : models) {
    rows.push_back({model.name, fmt::format("{}", fmt::join(model.spec.categories, ", ")),
                    model.spec.description});
  }
  size_t model_width = 0;
  size_t category_width = 0;
  for (const Row& row : rows) {
    model_width = std::max(model_width, row.model.size());
    category_width = std::max(category_width, row.categories.size());
  }
  std::string table;
  for (const Row& row : rows) {
    table += fmt::format("{:{}}  {:{}}  {}\n", row.model, model_width, row.categories,
                         category_width, row.description);
  }
  return table;
}

std::string models_json(const std::vector<RegisteredModel>& models) {
  Json list = Json::array();
  for (const RegisteredModel& model : models) list.push_back(describe(model));
  return text(list);
}

std::string categories_text(const std::vector<std::string>& categories) {
  std::string lines;
  for (const std::string& category : categories) lines += category + "\n";
  return lines;
}

std::string categories_json(const std::vector<std::string>& categories) {
  return text(Json(categories));
}

}  // namespace torch_ir
