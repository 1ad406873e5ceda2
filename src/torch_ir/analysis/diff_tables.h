// What changed beside the operators: weights, constants, ranges, inputs that are fixed; and how
// values are written.
//
// Called by diff.
#pragma once

#include <string>

#include "torch_ir/analysis/diff.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Adds the changes to `diff`.
void compare_tables(const IR& old, const IR& now, GraphDiff& diff);

// "float32 [1, 3, s0]", "int s0 + 1"
std::string form_text(const TensorMeta& value);

std::string text_of(const Attribute& attribute);

}  // namespace torch_ir
