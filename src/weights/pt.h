// `.pt` state dicts.
#ifndef TORCH_IR_WEIGHTS_PT_H_
#define TORCH_IR_WEIGHTS_PT_H_

#include <string>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// The tensors of a `.pt` file that C++ wrote: a pickled dict from names to tensors
// (torch::pickle_save), or an archive of a module (torch::save), whose parameters and buffers come
// by dotted name. Throws WeightError, naming the file and what it holds instead.
StateDict load_weights_pt(const std::string& path);

}  // namespace torch_ir

#endif  // TORCH_IR_WEIGHTS_PT_H_
