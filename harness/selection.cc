#include "torch_ir/harness/selection.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Levenshtein distance.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

void check_known(const char* kind, const std::vector<std::string>& asked,
                 const std::vector<std::string>& known) {
  for (const std::string& name : asked) {
    if (contains(known, name)) continue;
    const std::string suggestion = nearest(name, known);
    throw Error("there is no " + std::string(kind) + " '" + name + "'" +
                (suggestion.empty() ? "" : "; did you mean '" + suggestion + "'?"));
  }
}

bool shares_an_item(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](const std::string& item) { return contains(b, item); });
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  std::string best;
  // A third of the letters may be wrong.
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(lower_case(word), lower_case(candidate));
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::vector<std::string> select_models(const std::vector<RegisteredModel>& registered,
                                       const Selection& selection) {
  std::vector<std::string> names;
  std::vector<std::string> categories;
  for (const RegisteredModel& model : registered) {
    names.push_back(model.name);
    categories.insert(categories.end(), model.spec.categories.begin(), model.spec.categories.end());
  }
  check_known("model", selection.models, names);
  check_known("category", selection.categories, categories);

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
