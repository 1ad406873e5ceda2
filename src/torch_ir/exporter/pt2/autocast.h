// Autocast, made explicit: which arguments of an operator a region of torch.autocast casts.
//
// In Python a `with torch.autocast(...)` region casts arguments when the operators in it run. In an
// ExportedGraph each of these casts is a node of its own (aten.to.dtype). What is cast is asked of
// LibTorch, operator by operator, by calling it with autocast on and looking at what arrives behind
// autocast.
#pragma once

#include <c10/core/ScalarType.h>

#include <vector>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/exporter/pt2/graph_reader.h"

namespace torch_ir {

// Adds `node`, which makes `outputs`, to `builder`, behind the casts that autocast to `dtype` makes
// of its arguments; returns the outputs. Throws ExportError for an operator that has no rule for
// autocast, but consists of operators that have.
std::vector<ValueId> add_under_autocast(ExportedNode node, std::vector<ExportedValue> outputs,
                                        c10::ScalarType dtype, GraphBuilder& builder);

}  // namespace torch_ir
