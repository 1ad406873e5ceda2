#include "torch_ir/visualize/svg.h"

#include <algorithm>
#include <string_view>

#include "torch_ir/visualize/labels.h"
#include "torch_ir/visualize/sketch.h"

namespace torch_ir {
namespace {

// Graphviz's search for better layouts often takes too long.
constexpr std::string_view kQuickLayout = "nslimit=2; nslimit1=2; mclimit=0.3;";

}  // namespace

std::string draw_picture(const Program& program, const std::string& format,
                         const SvgOptions& options) {
  const Sketchbook book(program, options.module, options.traits, options.groups);
  const Part& root = book.root();
  const bool is_whole = options.max_nodes == kAllNodes;
  const GraphSketch sketch = is_whole ? book.draw(root, options.depth)
                                      : book.draw_nodes(root, {.nodes = options.max_nodes});
  const bool is_folded = is_whole && Sketchbook::is_folded(root, options.depth);
  const auto node = std::ranges::find(program.nodes, options.highlighted_node, &Node::name);
  const DotOptions dot{.layout = std::string(is_folded ? kFoldedLayout : kQuickLayout),
                       .highlighted_node = static_cast<size_t>(node - program.nodes.begin()),
                       .has_names = true};
  const std::string& title = options.title.empty() ? program.model_name : options.title;
  return run_graphviz(write_dot(printable_name(title), sketch, dot), format, options.graphviz);
}

}  // namespace torch_ir
