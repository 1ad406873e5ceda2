// Selection: which models a run is about, and lists of them for a person or a script.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/registry/registry.h"

namespace torch_ir {

// What the user asked for; empty lists ask for everything.
struct Selection {
  std::vector<std::string> models = {};
  std::vector<std::string> categories = {};
};

// The names of those of `registered` that `selection` asks for, in the order of `registered`: any
// of the models, any of the categories, and both where both are given. Throws Error, with a
// suggestion, for a model or a category that nobody registered, and when nothing is left.
std::vector<std::string> select_models(const std::vector<RegisteredModel>& registered,
                                       const Selection& selection);

// A table with a head, a model a line.
std::string models_table(const std::vector<RegisteredModel>& models);

// The same as a JSON list of objects, with the inputs of each model.
std::string models_json(const std::vector<RegisteredModel>& models);

// A category a line.
std::string categories_text(const std::vector<std::string>& categories);

// As a JSON list.
std::string categories_json(const std::vector<std::string>& categories);

}  // namespace torch_ir
