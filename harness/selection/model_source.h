// ModelSource: what to run, as the process that runs it is told.
#pragma once

#include <string>
#include <variant>

#include "harness/selection/model_files.h"

namespace torch_ir {

// A model of the registry, by its name, or one in files.
using ModelSource = std::variant<std::string, ModelFiles>;

inline const std::string& name_of(const ModelSource& source) {
  const auto* files = std::get_if<ModelFiles>(&source);
  return files != nullptr ? files->name : std::get<std::string>(source);
}

}  // namespace torch_ir
