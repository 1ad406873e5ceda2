// resolve: makes the program that a document describes, which is its validation.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

// kStructure leaves out whether nodes fit the schemas of their operators: enough to show a graph.
enum class GraphChecks { kAll, kStructure };

struct Resolution {
  // Empty if there are problems.
  Program program;
  // In graph order, one line each, naming node and tensor: duplicate names, unknown producers,
  // wrong producer indices, values used before they are made, unknown graph outputs, placeholders
  // without mapping, mappings to unknown weights, constants that are not weights, shapes and dtypes
  // that disagree between producer and consumer, negative sizes, unknown dtypes, and nodes that do
  // not fit the schema of their operator (if this process knows it).
  std::vector<std::string> problems;
};

Resolution try_resolve(const IR& ir, GraphChecks checks = GraphChecks::kAll);

// Throws ValidationError with the problems, one per line.
Program resolve(const IR& ir, GraphChecks checks = GraphChecks::kAll);

std::vector<std::string> find_problems(const IR& ir, GraphChecks checks = GraphChecks::kAll);

// As resolve, for its errors.
void validate_ir(const IR& ir);

}  // namespace torch_ir
