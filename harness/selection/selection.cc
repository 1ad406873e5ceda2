#include "harness/selection/selection.h"

#include <algorithm>

#include "torch_ir/base/error.h"
#include "torch_ir/base/suggestion.h"

namespace torch_ir {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// What helps whoever asked for `name`, of which there is none.
std::string hint(const std::string& kind, const std::string& plural, const std::string& name,
                 const std::vector<std::string>& known) {
  if (name.find(',') != std::string::npos) return "; repeat --" + kind + " for each";
  const std::string suggestion = suggest(name, known);
  return suggestion.empty() ? "; see --list-" + plural : suggestion;
}

void check_known(const std::string& kind, const std::string& plural,
                 const std::vector<std::string>& asked, const std::vector<std::string>& known) {
  for (const std::string& name : asked) {
    if (contains(known, name)) continue;
    throw Error("there is no " + kind + " '" + name + "'" + hint(kind, plural, name, known));
  }
}

bool shares_an_item(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](const std::string& item) { return contains(b, item); });
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
    const bool by_name = selection.models.empty() || contains(selection.models, model.name);
    const bool by_category =
        selection.categories.empty() || shares_an_item(selection.categories, model.spec.categories);
    if (by_name && by_category) selected.push_back(model.name);
  }
  if (selected.empty()) {
    throw Error(registered.empty() ? "no model is registered"
                                   : "no model matches both the models and the categories");
  }
  return selected;
}

}  // namespace torch_ir
