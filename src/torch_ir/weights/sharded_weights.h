// Checkpoints in several files, with an index that says which tensor is in which.
//
// Used by load_weights. The index is what Hugging Face's libraries write:
// {"metadata": {...}, "weight_map": {"wte.weight": "model-00001-of-00002.safetensors", ...}}
#pragma once

#include <functional>
#include <string>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Loads one of the files.
using LoadShard = std::function<StateDict(const std::string& path)>;

// The tensors that the index at `path` lists, in its order. Files are named relative to the folder
// of the index and must lie in it; each is loaded once. Throws WeightError, naming the index, and
// the file or the tensor that is missing.
StateDict load_sharded_weights(const std::string& path, const LoadShard& load_shard);

}  // namespace torch_ir
