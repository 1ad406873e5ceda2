// What changed beside the operators: weights, constants, ranges, inputs that are fixed.
//
// Called by diff.
#pragma once

#include "torch_ir/analysis/diff.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Adds the changes to `diff`.
void compare_tables(const IR& old, const IR& now, GraphDiff& diff);

}  // namespace torch_ir
