// Models that fail in every way, and some that pass, for the tests of the harness.
#pragma once

#include <functional>
#include <string>

#include "torch_ir/registry/registry.h"

namespace torch_ir {

// Sends `signal` to the harness that runs the calling model: the parent of the keeper.
void signal_harness(int signal);

// Registers a model of one input, [2, 3].
void register_test_model(const std::string& name, const std::string& category,
                         std::function<at::Tensor(const at::Tensor&)> forward, ModelSpec spec = {});

}  // namespace torch_ir
