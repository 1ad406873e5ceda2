// What changed beside the operators: weights, constants, ranges, inputs that are fixed.
//
// Called by diff.
#ifndef TORCH_IR_IR_DIFF_TABLES_H_
#define TORCH_IR_IR_DIFF_TABLES_H_

#include "torch_ir/ir/diff.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Adds the changes to `diff`.
void compare_tables(const IR& old, const IR& now, GraphDiff& diff);

}  // namespace torch_ir

#endif  // TORCH_IR_IR_DIFF_TABLES_H_
