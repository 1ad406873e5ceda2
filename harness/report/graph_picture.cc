#include "harness/report/graph_picture.h"

#include <cstddef>
#include <exception>

#include "torch_ir/base/printable.h"
#include "torch_ir/visualize/svg.h"

namespace torch_ir {

GraphPicture draw_graph(const Result& result) {
  GraphPicture picture;
  if (!result.graph) return picture;
  SvgOptions options{.title = result.name};
  if (result.nodes && result.nodes->first_divergence) {
    options.highlighted_node = result.nodes->first_divergence->node.node;
  }
  try {
    if (result.nodes) {
      options.figures.resize(result.graph->nodes.size());
      for (const NodeError& error : result.nodes->errors) {
        options.figures.at(static_cast<size_t>(error.index)).max_diff = error.max_diff;
      }
    }
    picture.svg = draw_svg(result.program(), options);
  } catch (const std::exception& error) {
    picture.problem = headline(error.what());
  }
  return picture;
}

}  // namespace torch_ir
