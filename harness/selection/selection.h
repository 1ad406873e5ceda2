// Selection: which models a run is about.
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

}  // namespace torch_ir
