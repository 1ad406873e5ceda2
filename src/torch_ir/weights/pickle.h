// A virtual machine for Python's pickle, protocols 2 to 5, that never runs Python code.
//
// A pickle is a program for a small stack machine; it makes numbers, strings and containers itself,
// and everything else by naming something of Python and calling it. TorchRules decide which names
// are allowed and what a call returns. The text instructions of protocols 0 and 1 (torch.save
// writes protocol 2 by default) and those that need Python's extension registry or out-of-band
// buffers are rejected.
#pragma once

#include <string_view>

#include "torch_ir/weights/torch_rules.h"

namespace torch_ir {

// Runs the pickle at the beginning of `bytes`, with its values in `arena`, and checks its result
// (check_tree). Throws WeightError: "is damaged: byte 17 of the pickle: ...".
PickleValue* unpickle(std::string_view bytes, PickleArena& arena, TorchRules& rules);

}  // namespace torch_ir
