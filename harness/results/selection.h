// Selection: which models a run is about, and lists of them for a person or a script.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/registry/operator_case.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {

// What a run is about: models, or single calls of operators.
enum class Suite { kModels, kOperators };

// "models", "operators".
std::string suite_name(Suite suite);

// The inverse. Throws Error for another name.
Suite parse_suite(const std::string& name);

// What the user asked for; empty lists ask for everything.
struct Selection {
  Suite suite = Suite::kModels;
  std::vector<std::string> models = {};
  // Of models, or of operators.
  std::vector<std::string> categories = {};
  // With their overload or without: "aten.conv2d.default", "aten.conv2d".
  std::vector<std::string> operators = {};
  std::vector<std::string> dtypes = {};
};

// The names of those of `registered` that `selection` asks for, in the order of `registered`: any
// of the models, any of the categories, and both where both are given. Throws Error, with a
// suggestion, for a model or a category that nobody registered, and when nothing is left.
std::vector<std::string> select_models(const std::vector<RegisteredModel>& registered,
                                       const Selection& selection);

// The same of cases, by category, operator and dtype, in their order. Throws Error, with a
// suggestion, for what no case has, and when nothing is left.
std::vector<OperatorCase> select_cases(const std::vector<OperatorCase>& cases,
                                       const Selection& selection);

// Whether `selection` asks for cases of the operator and the dtype.
bool is_selected(const std::string& op_type, const std::string& dtype, const Selection& selection);

// The categories of cases, sorted.
std::vector<std::string> categories_of(const std::vector<OperatorCase>& cases);

// A table with a head, a model a line.
std::string models_table(const std::vector<RegisteredModel>& models);

// The same as a JSON list of objects, with the inputs of each model.
std::string models_json(const std::vector<RegisteredModel>& models);

// A category a line.
std::string categories_text(const std::vector<std::string>& categories);

// As a JSON list.
std::string categories_json(const std::vector<std::string>& categories);

}  // namespace torch_ir
