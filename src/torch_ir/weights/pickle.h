// The pickle machine: the instructions of Python's pickle, protocols 2 to 5, and nothing that they
// could call.
//
// Used by torch_file.h. A pickle is a program for a small stack machine; numbers, strings and
// containers it makes by itself, everything else by naming something of Python and calling it. What
// may be named, and what a call gives, the rules decide. Refused by name are the instructions of
// protocols 0 and 1, which have their arguments as text (torch.save writes protocol 2 unless it is
// told otherwise), and those that need more of Python: its extension registry, buffers out of band.
#pragma once

#include <string_view>
#include <vector>

#include "torch_ir/weights/pickle_value.h"

namespace torch_ir {

using PickleItems = std::vector<PickleValue::Pointer>;

class PickleRules {
 public:
  virtual ~PickleRules() = default;

  // What `module` calls `name`. Throws WeightError where it may not be named.
  virtual PickleValue* find_global(std::string_view module, std::string_view name) = 0;
  // What `callable` gives for `arguments`. Throws WeightError where it can not be called so.
  virtual PickleValue* call(const PickleValue& callable, const PickleItems& arguments) = 0;
  // Gives `object` the `state` that was saved beside what it was made of.
  virtual void set_state(PickleValue& object, const PickleValue& state) = 0;
  // What a persistent id stands for, such as a storage.
  virtual PickleValue* load_persistent(const PickleValue& id) = 0;
};

// Runs the pickle at the beginning of `bytes`, with its values in `arena`, and checks what it
// leaves (check_tree). Throws WeightError: "is damaged: byte 17 of the pickle: ...".
PickleValue* unpickle(std::string_view bytes, PickleArena& arena, PickleRules& rules);

}  // namespace torch_ir
