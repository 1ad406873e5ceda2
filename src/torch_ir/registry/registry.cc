#include "torch_ir/registry/registry.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

#include "torch_ir/base/characters.h"
#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

// A function, because models register themselves before main, in any order.
std::map<std::string, RegisteredModel>& registry() {
  static std::map<std::string, RegisteredModel> models;
  return models;
}

void name_inputs(std::vector<ModelInput>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name.empty()) {
      inputs[i].name = inputs.size() == 1 ? "x" : "x" + std::to_string(i + 1);
    }
  }
}

bool is_file_name(const std::string& name) {
  const auto fits = [](char c) { return is_name_part(c) || c == '-' || c == '.'; };
  return !name.empty() && name[0] != '.' && std::ranges::all_of(name, fits);
}

std::string find_problem(const ModelSpec& spec) {
  if (spec.inputs.empty()) return "without an input";
  if (spec.categories.empty()) return "without a category";
  if (spec.expected_failure && spec.expected_failure->reason.empty()) {
    return "as failing without a reason";
  }
  // NaN compares as false.
  const auto fits = [](const Tolerance& it) { return it.rtol >= 0 && it.atol >= 0; };
  const bool all_fit = (!spec.tolerance || fits(*spec.tolerance)) &&
                       std::ranges::all_of(spec.output_tolerances | std::views::values, fits);
  return all_fit ? "" : "with a tolerance below 0";
}

}  // namespace

void register_model(std::string name, ModelSpec spec, std::function<Model()> make) {
  if (!is_file_name(name)) {
    throw Error("invalid model name '" + name + "': use letters, digits, '_', '-' and '.'");
  }
  const std::string problem = find_problem(spec);
  if (!problem.empty()) throw Error("model '" + name + "' is registered " + problem);
  name_inputs(spec.inputs);
  const auto [position, added] =
      registry().try_emplace(name, RegisteredModel{name, std::move(spec), std::move(make)});
  if (!added) throw Error("duplicate model '" + name + "'");
}

std::vector<RegisteredModel> list_models(Scale scale) {
  std::vector<RegisteredModel> models;
  for (const auto& [name, model] : registry()) {
    if (model.spec.scale == scale) models.push_back(model);
  }
  return models;
}

std::vector<std::string> list_categories(Scale scale) {
  std::set<std::string> categories;
  for (const RegisteredModel& model : list_models(scale)) {
    categories.insert(model.spec.categories.begin(), model.spec.categories.end());
  }
  return {categories.begin(), categories.end()};
}

const RegisteredModel& find_model(const std::string& name) {
  const auto found = registry().find(name);
  if (found == registry().end()) throw Error("unknown model '" + name + "'");
  return found->second;
}

std::string_view scale_name(Scale scale) { return scale == Scale::kFull ? "full" : "test"; }

Scale parse_scale(std::string_view name) {
  for (const Scale scale : {Scale::kTest, Scale::kFull}) {
    if (scale_name(scale) == name) return scale;
  }
  throw Error("unknown scale '" + std::string(name) + "'; expected test or full");
}

}  // namespace torch_ir
