// For fuzz tests: whether tensors lie where they may.
#pragma once

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Reads every byte of the storages of `tensors`, and ends the process where an element lies outside
// of its storage.
void read_all(const StateDict& tensors);

}  // namespace torch_ir
