// Selection: chooses the models or cases of a run, and lists them.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/registry/operator_case.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {

enum class Suite { kModels, kOperators };

// "models", "operators".
std::string suite_name(Suite suite);

// Throws Error for an unknown name.
Suite parse_suite(const std::string& name);

// An empty list selects everything.
struct Selection {
  Suite suite = Suite::kModels;
  std::vector<std::string> models = {};
  std::vector<std::string> categories = {};
  // With or without overload: "aten.conv2d.default", "aten.conv2d".
  std::vector<std::string> operators = {};
  std::vector<std::string> dtypes = {};

  bool operator==(const Selection&) const = default;
};

// Selects names of `registered`, in order: those in Selection::models, those of a category, or if
// both are given, those that match both. Throws Error, with a suggestion, for unknown names, and if
// no model is left.
std::vector<std::string> select_models(const std::vector<RegisteredModel>& registered,
                                       const Selection& selection);

// Selects cases by category, operator and dtype, in order. Throws as select_models.
std::vector<OperatorCase> select_cases(const std::vector<OperatorCase>& cases,
                                       const Selection& selection);

// Whether `list`, a part of a selection, selects one of `items`.
bool selects(const std::vector<std::string>& list, const std::vector<std::string>& items);

bool is_selected(const std::string& op_type, const std::string& dtype, const Selection& selection);

std::vector<std::string> categories_of(const std::vector<OperatorCase>& cases);

std::string models_table(const std::vector<RegisteredModel>& models);

}  // namespace torch_ir
