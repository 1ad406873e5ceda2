// compare_nodes: where does a graph first compute something else than its model?
//
// The model and the graph run side by side: each value is compared as soon as the model has made
// it, and let go of before the next, so that memory is that of two runs. What is written to in
// place is compared as it was right after its node, on both sides.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/verifier/node_report.h"

namespace torch_ir {

// Runs the model and tells its values, in the order of the graph. Values that the graph does not
// have are passed over.
using ReferenceRun = std::function<void(const ValueObserver&)>;

// The value called so in the run of the graph; undefined where there is none by itself. Asked for
// in the order in which the model tells them, each once.
using ActualValue = std::function<at::Tensor(const std::string& name)>;

// The values that are compared, by name, in the order of the graph: what its nodes make, but of
// nodes that make several only those that are read. What nobody reads, such as the statistics that
// a batch norm saves, may differ from device to device.
std::vector<std::string> compared_values(const Graph& graph);

// Compares the compared_values of `graph`. Throws nothing that the two runs throw: what was
// compared until then is in the report, with the error. Leaves Divergence::inputs empty.
NodeReport compare_nodes(const Graph& graph, const ReferenceRun& reference,
                         const ActualValue& actual, const ToleranceRule& tolerance);

}  // namespace torch_ir
