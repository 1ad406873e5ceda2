// Pickled values as a tree: checked, and searched.
//
// Used by torch_file.cc when a pickle has been read.
#pragma once

#include <string>

#include "torch_ir/weights/pickle_value.h"

namespace torch_ir {

// Makes the values below `root` what pickle_value.h promises: of equal keys of a dict one is left.
// Throws WeightError for a cycle and where there are too many levels or too many values.
void check_tree(PickleValue& root);

// Where below `root` the value is, such as "['model']['fc.weight']"; the first place of several.
// Empty where it is not.
std::string find_place(const PickleValue& root, const PickleValue& value);

}  // namespace torch_ir
