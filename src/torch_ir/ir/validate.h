// validate_ir: checks that an IR is well formed. The runtime relies on it.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// kStructure leaves out whether nodes fit the schemas of their operators: enough to show a graph.
enum class GraphChecks { kAll, kStructure };

// The problems of `ir`, in graph order, one line each, naming node and tensor:
// duplicate names, unknown producers, wrong producer indices, values used before they are made,
// unknown graph outputs, placeholders without mapping, mappings to unknown weights,
// constants that are not weights, shapes and dtypes that disagree between producer and consumer,
// negative sizes, unknown dtypes, and nodes that do not fit the schema of their operator (if this
// process knows it).
std::vector<std::string> find_problems(const IR& ir, GraphChecks checks = GraphChecks::kAll);

// Throws ValidationError with the problems that find_problems finds, one per line.
void validate_ir(const IR& ir);

}  // namespace torch_ir
