// Listing: what the registry has, for a person or a script.
#ifndef TORCH_IR_HARNESS_SELECTION_LISTING_H_
#define TORCH_IR_HARNESS_SELECTION_LISTING_H_

#include <string>
#include <vector>

#include "torch_ir/models/registry.h"

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

#endif  // TORCH_IR_HARNESS_SELECTION_LISTING_H_
