// GraphSummary: what reports of a whole run say of a model's graph.
//
// Made when the model has run. It stays small whatever the size of the graph, so that a run of many
// models need not keep their graphs.
#pragma once

#include <string>

#include "torch_ir/analysis/summary.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

struct GraphSummary {
  IRSummary figures = {};
  // See graph_fingerprint.
  std::string fingerprint = {};
};

GraphSummary summarize_graph(const IR& graph);

// A text that two graphs have in common only when they are the same: names, operators, attributes,
// shapes. Neither the version of PyTorch nor the values of constants count.
std::string graph_fingerprint(const IR& graph);

}  // namespace torch_ir
