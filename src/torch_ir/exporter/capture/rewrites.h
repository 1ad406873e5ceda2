// Rewrites: from the operators that LibTorch's C++ front end calls to those that Python calls.
//
// `torch::nn::Linear` is `t` and `addmm` in C++ and `linear` in Python; `x / 4.0` is `div.Scalar`
// and `div.Tensor`. One table, in rewrites.cc, of patterns of consecutive nodes.
#pragma once

#include "torch_ir/exporter/capture/traced_graph.h"

namespace torch_ir {

// Replaces every match of a pattern, the longest first, in one pass. A match is only replaced when
// nothing outside it uses the values inside.
void rewrite_to_python_form(TracedGraph& graph);

}  // namespace torch_ir
