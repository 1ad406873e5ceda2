// Fusion: what the optimization level `fast` does to a graph.
//
// With oneDNN it only folds batch norms here: fuse_trace does more with the calls that are left.
//
// Its passes change the order of arithmetic, but not what is computed: a batch norm becomes part of
// the convolution before it, an addition and an activation part of the convolution that they
// follow, and weights get the layout that the kernels are fastest with. Each edits the
// graph in place, and leaves alone what it does not know.
#pragma once

#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/executor/graph/lowered_graph.h"

namespace torch_ir {

// The rewrites below that the options call for, in the order that lets each find the most. Does
// nothing to graphs that write to memory in place, and nothing off the CPU.
void fuse(LoweredGraph& graph, const ExecutionOptions& options);

// Convolution -> batch norm in evaluation mode with constant statistics: one convolution, its
// weight and bias scaled (Jacob et al., Quantization and Training of Neural Networks for Efficient
// Integer-Arithmetic-Only Inference, 2018, section 3.2), in double precision.
void fold_batch_norms(LoweredGraph& graph);

// Two-dimensional convolutions, with the addition and the activation after them, by oneDNN's fused
// operators on weights that are packed once. Activations become channels-last from the first of
// them on.
void pack_convolutions(LoweredGraph& graph);

// Weights of linear layers with many rows, transposed in memory: what addmm is faster with.
void transpose_linear_weights(LoweredGraph& graph);

}  // namespace torch_ir
