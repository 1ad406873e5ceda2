// graph_data: a graph as JSON, for a page that draws it.
//
// `nodes` have [name, operator, kind, module, source line, arguments, outputs]; an argument is
// [name, value], a value being an index into `values`, a list of them, or an attribute as text.
// `values` are [name, shape, dtype], `weights` [value, name in the state dict]. `levels` are the
// parts of the graph (fold.h), the whole graph first: `size`; `boxes`, each [kind, title, detail,
// x, y, width, height, nodes, level], placed by their middles, with the first and the last node of
// each run of nodes and the level that a click opens, or 0; and `arrows`, each [from, to, label,
// its place, points], between indices of boxes, along Bézier curves; and `groups` of an executor,
// each [name, indices of boxes].
#pragma once

#include <string>

#include "torch_ir/ir/program.h"
#include "torch_ir/visualize/svg.h"

namespace torch_ir {

// Uses `traits`, `groups` and `graphviz`. Throws as draw_picture does.
std::string graph_data(const Program& program, const SvgOptions& options = {});

}  // namespace torch_ir
