// Reads `.pt` state dicts, written by Python or C++.
#pragma once

#include <string>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

struct LoadWeightsOptions {
  // The state dict in a checkpoint: "model.ema" for `checkpoint["model"]["ema"]`. If empty, the
  // file holds a state dict, or exactly one under some key.
  std::string weights_key;
};

// Loads tensors from files of torch.save since PyTorch 1.6 (a state dict, or a checkpoint with
// one), and from archives that C++ wrote: a pickled dict (torch::pickle_save), a module
// (torch::save) or TorchScript, whose tensors have dotted names. Nothing in the file is executed.
// The file is mapped, and tensors that shared memory still do. Throws WeightError, naming the file
// and its content.
StateDict load_weights_pt(const std::string& path, const LoadWeightsOptions& options = {});

}  // namespace torch_ir
