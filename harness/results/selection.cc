#include "harness/results/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "torch_ir/analysis/text_table.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/suggestion.h"
#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

std::string hint(const std::string& kind, const std::string& plural, const std::string& name,
                 const std::vector<std::string>& known) {
  if (name.find(',') != std::string::npos) return "; repeat --" + kind + " for each";
  const std::string suggestion = suggest(name, known);
  if (!suggestion.empty()) return suggestion;
  if (!plural.empty()) return "; see --list-" + plural;
  constexpr size_t kMostNames = 16;
  return known.size() > kMostNames ? ""
                                   : fmt::format("; expected one of: {}", fmt::join(known, ", "));
}

void check_known(const std::string& kind, const std::string& plural,
                 const std::vector<std::string>& asked, const std::vector<std::string>& known) {
  for (const std::string& name : asked) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw Error("unknown " + kind + " '" + name + "'" + hint(kind, plural, name, known));
  }
}

// "aten.conv2d" for "aten.conv2d.default".
std::string without_overload(const std::string& op_type) {
  return op_type.substr(0, op_type.rfind('.'));
}

}  // namespace

std::vector<std::string> select_models(const std::vector<RegisteredModel>& registered,
                                       const Selection& selection) {
  std::vector<std::string> names;
  std::vector<std::string> categories;
  for (const RegisteredModel& model : registered) {
    names.push_back(model.name);
    categories.insert(categories.end(), model.spec.categories.begin(), model.spec.categories.end());
  }
  check_known("model", "models", selection.models, names);
  check_known("category", "categories", selection.categories, categories);

  std::vector<std::string> selected;
  for (const RegisteredModel& model : registered) {
    if (selects(selection.models, {model.name}) &&
        selects(selection.categories, model.spec.categories)) {
      selected.push_back(model.name);
    }
  }
  if (selected.empty()) {
    throw Error(registered.empty() ? "no model is registered"
                                   : "no model matches both --model and --category");
  }
  return selected;
}

std::string suite_name(Suite suite) { return suite == Suite::kModels ? "models" : "operators"; }

Suite parse_suite(const std::string& name) {
  if (name == "models") return Suite::kModels;
  if (name == "operators") return Suite::kOperators;
  throw Error("unknown suite '" + name + "'; expected models or operators");
}

bool selects(const std::vector<std::string>& list, const std::vector<std::string>& items) {
  return list.empty() || std::ranges::find_first_of(list, items) != list.end();
}

bool is_selected(const std::string& op_type, const std::string& dtype, const Selection& selection) {
  return selects(selection.operators, {op_type, without_overload(op_type)}) &&
         selects(selection.dtypes, {dtype});
}

std::vector<OperatorCase> select_cases(const std::vector<OperatorCase>& cases,
                                       const Selection& selection) {
  std::set<std::string> operators;
  std::set<std::string> dtypes;
  for (const OperatorCase& it : cases) {
    operators.insert({it.op_type, without_overload(it.op_type)});
    dtypes.insert(dtype_name(it.dtype));
  }
  check_known("category", "categories", selection.categories, categories_of(cases));
  check_known("operator", "", selection.operators, {operators.begin(), operators.end()});
  check_known("dtype", "", selection.dtypes, {dtypes.begin(), dtypes.end()});
  std::vector<OperatorCase> selected;
  for (const OperatorCase& operator_case : cases) {
    if (selects(selection.categories, {operator_case.category}) &&
        is_selected(operator_case.op_type, dtype_name(operator_case.dtype), selection)) {
      selected.push_back(operator_case);
    }
  }
  if (selected.empty()) {
    throw Error(cases.empty() ? "no operator case is linked into this program"
                              : "no case matches all of --operator, --dtype and --category");
  }
  return selected;
}

std::vector<std::string> categories_of(const std::vector<OperatorCase>& cases) {
  std::set<std::string> categories;
  for (const OperatorCase& it : cases) categories.insert(it.category);
  return {categories.begin(), categories.end()};
}

std::string models_table(const std::vector<RegisteredModel>& models) {
  TextRows rows = {{"model", "categories", "description"}};
  for (const RegisteredModel& model : models) {
    rows.push_back({model.name, fmt::format("{}", fmt::join(model.spec.categories, ", ")),
                    model.spec.description});
  }
  return text_table(rows);
}

}  // namespace torch_ir
