// A virtual machine for Python's pickle, protocols 2 to 5, that never runs Python code.
//
// A pickle is a program for a small stack machine; it makes numbers, strings and containers itself,
// and everything else by naming something of Python and calling it. PickleRules decide which
// names are allowed and what a call returns. The text instructions of protocols 0
// and 1 (torch.save writes protocol 2 by default) and those that need Python's extension registry
// or out-of-band buffers are rejected.
#pragma once

#include <string_view>
#include <vector>

#include "torch_ir/weights/pickle_value.h"

namespace torch_ir {

using PickleItems = std::vector<PickleValue::Pointer>;

class PickleRules {
 public:
  virtual ~PickleRules() = default;

  // Resolves `name` of `module`. Throws WeightError if it may not be named.
  virtual PickleValue* find_global(std::string_view module, std::string_view name) = 0;
  // Calls `callable` with `arguments`. Throws WeightError if it cannot be called like this.
  virtual PickleValue* call(const PickleValue& callable, const PickleItems& arguments) = 0;
  // Applies the saved `state` to `object`.
  virtual void set_state(PickleValue& object, const PickleValue& state) = 0;
  // Resolves a persistent id, such as a storage.
  virtual PickleValue* load_persistent(const PickleValue& id) = 0;
};

// Runs the pickle at the beginning of `bytes`, with its values in `arena`, and checks its result
// (check_tree). Throws WeightError: "is damaged: byte 17 of the pickle: ...".
PickleValue* unpickle(std::string_view bytes, PickleArena& arena, PickleRules& rules);

}  // namespace torch_ir
