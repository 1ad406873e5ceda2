// The benchmarks' models as plain calls: the ATen operators of their graphs, called by hand.
//
// What the plan is measured against. No module, no lookup of a weight, no dispatch by name is in
// the way: the weights are found once, and a run is the calls of the graph and nothing else, with
// the overloads and the arguments that the graph has. (A number as the second operand is passed as
// such; C++ can not do it otherwise without making a tensor itself.)
#pragma once

#include <string>

#include "torch_ir/exporter/capture/model.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

bool has_eager_model(const std::string& name);

// The calls of the model `name` (list_benchmark_models) on the values of `weights` and of
// `constants`, by state dict name. Throws Error for another model or a value that is missing.
ModelFn eager_model(const std::string& name, const StateDict& weights, const StateDict& constants);

}  // namespace torch_ir
