#include "torch_ir/visualize/dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <variant>

#include "torch_ir/ir/resolve.h"
#include "torch_ir/visualize/labels.h"
#include "torch_ir/visualize/sketch.h"

namespace torch_ir {
namespace {

// Attributes of boxes besides their labels, by kind. Operators use the graph's defaults.
constexpr std::string_view kStyles[] = {
    /*kInput=*/", shape=parallelogram, fillcolor=\"#e1f0ff\"",
    /*kOperator=*/"",
    /*kModule=*/", style=\"filled,rounded\", fillcolor=\"#f0ecf9\", penwidth=1.6",
    /*kWeight=*/", shape=parallelogram, fillcolor=\"#f0f0f0\"",
    /*kOutput=*/", shape=invtrapezium, fillcolor=\"#e3f5e1\"",
    /*kNote=*/", shape=plaintext, style=\"\"",
};
static_assert(std::size(kStyles) == static_cast<size_t>(BoxKind::kNote) + 1);

// For double quotes. In Graphviz's labels, backslashes are escapes and "&amp;" is an ampersand.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
    if (c == '&') result += "amp;";
  }
  return result;
}

std::string box_line(const Box& box, const DotOptions& options) {
  const bool stands_out = std::ranges::binary_search(box.nodes, options.highlighted_node);
  // A page marks its modules so.
  std::string label = escaped((options.is_plain && box.part ? "+ " : "") + box.title);
  if (!box.detail.empty()) label += "\\n" + escaped(box.detail);
  if (stands_out) label += box.part ? "\\nfirst difference inside" : "\\nfirst difference";
  std::string line = "    " + box.id + " [label=\"" + label + "\"";
  if (!options.is_plain) line += kStyles[static_cast<size_t>(box.kind)];
  if (stands_out) line += ", color=\"#cf222e\", penwidth=3, fillcolor=\"#ffebe9\"";
  if (options.has_names && !box.name.empty())
    line += ", tooltip=\"" + escaped(printable_name(box.name)) + "\"";
  return line + "];\n";
}

std::string arrow_line(const Arrow& arrow) {
  return "    " + arrow.from + " -> " + arrow.to + " [label=\"" + escaped(arrow.label) + "\"" +
         (arrow.from_weight ? ", style=dashed];\n" : "];\n");
}

std::string cluster_start(std::string_view id, std::string_view title, std::string_view style) {
  return fmt::format(
      "    subgraph cluster_{} {{\n    label=\"{}\"; labeljust=l; style=\"{}\"; "
      "color=\"#8a93a5\"; fillcolor=\"#fafbfc\"; fontname=Helvetica;\n",
      id, escaped(title), style);
}

}  // namespace

std::string write_dot(std::string_view name, const GraphSketch& sketch, const DotOptions& options) {
  std::string text = "digraph \"" + escaped(name) + "\" {\n    rankdir=TB;\n";
  if (!options.layout.empty()) text += "    " + options.layout + "\n";
  text +=
      "    node [shape=box, style=filled, fillcolor=white, fontname=Helvetica];\n"
      "    edge [fontname=Helvetica, fontsize=10];\n";
  std::map<std::string_view, std::string> groups;
  for (const auto& mark : sketch) {
    if (const Box* box = std::get_if<Box>(&mark)) {
      text += box_line(*box, options);
      if (!box->group.empty()) groups[box->group] += " " + box->id + ";";
    } else if (const Arrow* arrow = std::get_if<Arrow>(&mark)) {
      text += arrow_line(*arrow);
    } else if (const PartFrame* frame = std::get_if<PartFrame>(&mark)) {
      text += cluster_start(frame->id, frame->title, "rounded,filled");
    } else {
      text += "    }\n";
    }
  }
  size_t num_groups = 0;
  for (const auto& [group, boxes] : groups) {
    text += cluster_start(fmt::format("group_{}", num_groups++), printable_name(group), "dashed") +
            "   " + boxes + "\n    }\n";
  }
  return text + "}\n";
}

std::string draw_dot(const Program& program, const MermaidOptions& options) {
  const Sketchbook book(program, options.module);
  const GraphSketch sketch = options.max_nodes == kAllNodes
                                 ? book.draw(book.root(), options.depth)
                                 : book.draw_nodes(book.root(), {.nodes = options.max_nodes});
  return write_dot(printable_name(program.model_name), sketch);
}

std::string ir_to_dot(const IR& ir, const MermaidOptions& options) {
  return draw_dot(resolve(ir, GraphChecks::kStructure), options);
}

}  // namespace torch_ir
