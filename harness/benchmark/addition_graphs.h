// Graphs of any number of nodes: additions of values of one element.
//
// For benchmarks and loads. The input is "x"; with 1 in it a graph of N nodes gives N + 1, exactly
// while float32 has it.
#pragma once

#include <cstdint>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Of each result with the input, one after the other.
IR addition_chain(int64_t num_nodes);

// The same, where each result is an output too: 2, 3, ...
IR addition_chain_of_outputs(int64_t num_nodes);

// Half of the additions next to each other, and the rest the tree that sums them, for an even
// number of them.
IR wide_additions(int64_t num_nodes);

}  // namespace torch_ir
