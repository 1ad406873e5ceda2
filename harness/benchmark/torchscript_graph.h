// An IR as a TorchScript module, for the benchmarks.
//
// One node a call, with the overload that the IR names and every argument given; weights are the
// module's attributes, so TorchScript may freeze and optimize the module as it does any other.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// The module of `ir`, in eval mode. Its forward takes the graph's inputs and returns the one
// output, or a tuple of all. Weights are looked for in `weights`, then in `ir.constants`. Throws
// Error, naming the node, for what has no form there (control flow, numbers as values), and for a
// weight that is missing.
torch::jit::Module to_torchscript(const IR& ir, const StateDict& weights);

}  // namespace torch_ir
