#include "torch_ir/visualize/svg.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "torch_ir/visualize/labels.h"
#include "torch_ir/visualize/sketch.h"

namespace torch_ir {
namespace {

// Graphviz's search for better layouts often takes too long.
constexpr std::string_view kQuickLayout = "nslimit=2; nslimit1=2; mclimit=0.3;";

size_t node_index(const Graph& graph, const std::string& name) {
  const auto node = std::ranges::find(graph.nodes, name, &Node::name);
  const bool is_known = node != graph.nodes.end() && !name.empty();
  return is_known ? static_cast<size_t>(node - graph.nodes.begin())
                  : std::numeric_limits<size_t>::max();
}

std::string draw(const Program& program, const SvgOptions& options, const std::string& format) {
  const Sketchbook book(program, options.module, options.traits, options.groups);
  const Part& root = book.root();
  const bool is_whole = options.max_nodes == kAllNodes;
  const GraphSketch sketch = is_whole ? book.draw(root, options.depth)
                                      : book.draw_nodes(root, {.nodes = options.max_nodes});
  const bool is_folded = is_whole && Sketchbook::is_folded(root, options.depth);
  const DotOptions dot{.layout = std::string(is_folded ? kFoldedLayout : kQuickLayout),
                       .highlighted_node = node_index(program, options.highlighted_node),
                       .has_names = true};
  const std::string& title = options.title.empty() ? program.model_name : options.title;
  return run_graphviz(write_dot(printable_name(title), sketch, dot), format, options.graphviz);
}

}  // namespace

std::string draw_svg(const Program& program, const SvgOptions& options) {
  return draw(program, options, "svg");
}

std::string draw_png(const Program& program, const SvgOptions& options) {
  return draw(program, options, "png");
}

}  // namespace torch_ir
