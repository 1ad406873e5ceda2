// ModelSource: what to run, as the process that runs it is told.
#ifndef TORCH_IR_HARNESS_SELECTION_MODEL_SOURCE_H_
#define TORCH_IR_HARNESS_SELECTION_MODEL_SOURCE_H_

#include <string>
#include <variant>

#include "torch_ir/harness/selection/archive.h"

namespace torch_ir {

// A model of the registry, by its name, or an archive.
using ModelSource = std::variant<std::string, Archive>;

inline const std::string& name_of(const ModelSource& source) {
  const auto* archive = std::get_if<Archive>(&source);
  return archive != nullptr ? archive->name : std::get<std::string>(source);
}

}  // namespace torch_ir

#endif  // TORCH_IR_HARNESS_SELECTION_MODEL_SOURCE_H_
