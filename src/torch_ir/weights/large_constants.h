// Constants that are too large for an IR file.
//
// Called by whoever turns an archive into an IR file and a file of weights: the command line and
// the harness.
#pragma once

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Moves the constants of `ir` with more than 65,536 elements, which nobody wants to read as JSON,
// to `weights`, where a plan finds them too. The others keep their order.
void move_large_constants(IR& ir, StateDict& weights);

}  // namespace torch_ir
