// Listing: what the registry has, for a person or a script.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/registry/registry.h"

namespace torch_ir {

// A table with a head, a model a line.
std::string models_table(const std::vector<RegisteredModel>& models);

// The same as a JSON list of objects, with the inputs of each model.
std::string models_json(const std::vector<RegisteredModel>& models);

// A category a line.
std::string categories_text(const std::vector<std::string>& categories);

// As a JSON list.
std::string categories_json(const std::vector<std::string>& categories);

}  // namespace torch_ir
