// `.pt` state dicts, written by Python or by C++.
#pragma once

#include <string>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// How a file of weights is read.
struct LoadWeightsOptions {
  // Where in a checkpoint the state dict is, as in `checkpoint["model"]["ema"]`: "model.ema". When
  // it is empty, the file holds a state dict or exactly one under some key.
  std::string weights_key;
};

// The tensors of what torch.save has written since PyTorch 1.6 (a state dict, or a checkpoint with
// one in it), and of archives that C++ wrote: a pickled dict (torch::pickle_save), a
// module (torch::save) or TorchScript, whose tensors come by dotted name. Nothing in the file is
// executed. Throws WeightError, naming the file and what it holds instead.
//
// The file is mapped, and tensors that shared memory share it here.
StateDict load_weights_pt(const std::string& path, const LoadWeightsOptions& options = {});

}  // namespace torch_ir
