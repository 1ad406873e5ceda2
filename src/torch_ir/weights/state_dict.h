// State dicts: from modules, from files, and checked against an IR.
//
// StateDict itself (ir/ir.h) is tensors by name, in order. A loader decides the format by the
// content of the file, not by its name.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/weights/pt.h"

namespace torch::nn {
class Module;
}

namespace torch_ir {

// Parameters, then buffers, of `module` and its submodules by dotted name; the tensors are the
// module's own, not copies.
StateDict state_dict(const torch::nn::Module& module);

// A state dict from a file: `.safetensors`, what pt.h reads, or the index of a sharded checkpoint
// (`model.safetensors.index.json`, `pytorch_model.bin.index.json`), whose files lie beside it. The
// content decides, not the name. `path` may also be a folder with one index, or with one file of
// weights. Files are mapped: data are read from the disk when they are used.
//
// Throws WeightError, naming the file; also for a `weights_key` where the format has no keys.
StateDict load_weights(const std::string& path, const LoadWeightsOptions& options = {});

// What does not fit between `weights` and `ir`, one line each: weights of the IR that are missing
// (and have no value in `ir.constants`), and shapes or dtypes that differ. Surplus weights are not
// problems; they are warned about. Empty when `ir` can run with `weights`.
std::vector<std::string> validate_weights_against_ir(const StateDict& weights, const IR& ir);

// One warning for all `weights` that `ir` has under neither of their names; none where it has all.
void warn_about_surplus_weights(const StateDict& weights, const IR& ir);

// Moves the constants of `ir` with more than 65,536 elements, which nobody wants to read as JSON,
// to `weights`, where a plan finds them too. The others keep their order.
void move_large_constants(IR& ir, StateDict& weights);

}  // namespace torch_ir
