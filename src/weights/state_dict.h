// State dicts: from modules, from files, and checked against an IR.
//
// StateDict itself (ir/ir.h) is tensors by name, in order. A loader decides the format by the
// content of the file, not by its name.
#ifndef TORCH_IR_WEIGHTS_STATE_DICT_H_
#define TORCH_IR_WEIGHTS_STATE_DICT_H_

#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch::nn {
class Module;
}

namespace torch_ir {

// Parameters, then buffers, of `module` and its submodules by dotted name; the tensors are the
// module's own, not copies.
StateDict state_dict(const torch::nn::Module& module);

// A state dict from a `.safetensors` or `.pt` file. Throws WeightError, naming the file.
StateDict load_weights(const std::string& path);

// What does not fit between `weights` and `ir`, one line each: weights of the IR that are missing
// (and have no value in `ir.constants`), and shapes or dtypes that differ. Surplus weights are not
// problems; they are warned about. Empty when `ir` can run with `weights`.
std::vector<std::string> validate_weights_against_ir(const StateDict& weights, const IR& ir);

}  // namespace torch_ir

#endif  // TORCH_IR_WEIGHTS_STATE_DICT_H_
