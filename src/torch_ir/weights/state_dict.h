// Gets state dicts from modules and files, and checks them against an IR.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/weights/pt.h"

namespace torch::nn {
class Module;
}

namespace torch_ir {

// Parameters, then buffers, of `module` and its submodules by dotted name; the tensors are not
// copied.
StateDict state_dict(const torch::nn::Module& module);

// Copies `tensors` into the parameters and buffers of `module` with these names, as Python's
// load_state_dict does: names and shapes have to agree, dtypes are converted. Throws WeightError
// with a problem_list of all that are missing, unexpected, of another shape or on the meta device;
// then nothing is copied.
void load_state_dict(torch::nn::Module& module, const StateDict& tensors);

// Loads a `.safetensors` file, a file that pt.h reads, or the index of a sharded checkpoint
// (`model.safetensors.index.json`, `pytorch_model.bin.index.json`) with the files beside it. The
// content decides, not the name. `path` may also be a folder with one index, or with one file of
// weights. Files are mapped: data is read from the disk when it is used.
//
// Throws WeightError, naming the file; also for a `weights_key` if the format has no keys.
StateDict load_weights(const std::string& path, const LoadWeightsOptions& options = {});

// Lists the problems that keep `ir` from running with `weights`, one line each: weights that are
// missing (also from `ir.constants`), and shapes or dtypes that differ. Surplus weights only cause
// a warning.
std::vector<std::string> validate_weights_against_ir(const StateDict& weights, const IR& ir);

// Gives one warning for all `weights` that are not among the names that a graph uses: those of its
// weights and of their placeholders.
void warn_about_surplus_weights(const StateDict& weights,
                                const std::unordered_set<std::string_view>& used);

// Moves constants of `ir` with more than 65,536 elements, too many for JSON, to `weights`, where a
// plan finds them too. The others keep their order.
void move_large_constants(IR& ir, StateDict& weights);

}  // namespace torch_ir
