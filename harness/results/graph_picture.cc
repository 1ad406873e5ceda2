#include "harness/results/graph_picture.h"

#include <exception>

#include "torch_ir/visualize/svg.h"

namespace torch_ir {

GraphPicture draw_graph(const ModelResult& result) {
  GraphPicture picture;
  if (!result.graph) return picture;
  SvgOptions options{.title = result.name};
  if (result.nodes && result.nodes->first_divergence) {
    options.highlighted_node = result.nodes->first_divergence->node.node;
  }
  try {
    picture.svg = ir_to_svg(*result.graph, options);
  } catch (const std::exception& error) {
    const std::string message = error.what();
    picture.problem = message.substr(0, message.find('\n'));
  }
  return picture;
}

}  // namespace torch_ir
