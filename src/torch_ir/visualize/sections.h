// Sections: a large graph as drawings that can be laid out one by one.
//
// What a layout costs grows with the square of a graph and worse; that of its sections grows with
// their number. Used by the pictures.
#pragma once

#include <cstddef>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/visualize/sketch.h"

namespace torch_ir {

// Sketches of every `nodes_per_section` nodes of `ir`, in their order, each with boxes of its own
// for the inputs and weights that it uses, and for the values "From: ..." earlier sections. All
// identifiers differ. Only the first `max_nodes` nodes are drawn; the last sketch counts the rest.
std::vector<GraphSketch> sketch_sections(const IR& ir, size_t nodes_per_section, size_t max_nodes);

}  // namespace torch_ir
