// The state dict in what a file holds.
//
// Used by pt.h. A state dict is a dict from names to tensors; under names
// that end in "_extra_state" it may have anything, which is left out, as the tensors of a model do
// not depend on it. A checkpoint has it somewhere among other things.
#pragma once

#include <string>

#include "torch_ir/ir/ir.h"
#include "torch_ir/weights/pickle_value.h"

namespace torch_ir {

// `value` itself where it is a state dict, else the only one that can be reached by keys that are
// strings. `key`, where it is not empty, says which: a key of `value`, or several joined by dots.
// Of objects of TorchScript, the tensors by dotted name.
//
// Throws WeightError, which does not name the file: "holds several state dicts, ...".
StateDict find_state_dict(const PickleValue& value, const std::string& key = {});

}  // namespace torch_ir
