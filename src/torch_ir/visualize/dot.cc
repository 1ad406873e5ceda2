#include "torch_ir/visualize/dot.h"

#include <variant>

#include "torch_ir/visualize/labels.h"
#include "torch_ir/visualize/sketch.h"

namespace torch_ir {
namespace {

// Attributes of a box besides its label; empty for operators, which use the graph's defaults.
std::string_view style(BoxKind kind) {
  switch (kind) {
    case BoxKind::kInput:
      return ", shape=parallelogram, fillcolor=\"#e1f0ff\"";
    case BoxKind::kWeight:
      return ", shape=parallelogram, fillcolor=\"#f0f0f0\"";
    case BoxKind::kOutput:
      return ", shape=invtrapezium, fillcolor=\"#e3f5e1\"";
    case BoxKind::kNote:
      return ", shape=plaintext, style=\"\"";
    case BoxKind::kOperator:
      return "";
  }
  return "";
}

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
  const bool stands_out =
      box.kind == BoxKind::kOperator && !box.name.empty() && box.name == options.highlighted_node;
  std::string label = escaped(box.title);
  if (!box.detail.empty()) label += "\\n" + escaped(box.detail);
  if (stands_out) label += "\\nfirst difference";
  std::string line = "    " + box.id + " [label=\"" + label + "\"";
  line += style(box.kind);
  if (stands_out) line += ", color=\"#cf222e\", penwidth=3, fillcolor=\"#ffebe9\"";
  return line;
}

std::string arrow_line(const Arrow& arrow) {
  return "    " + arrow.from + " -> " + arrow.to + " [label=\"" + escaped(arrow.label) + "\"" +
         (arrow.from_weight ? ", style=dashed];\n" : "];\n");
}

}  // namespace

std::string write_dot(std::string_view name, const std::vector<GraphSketch>& sketches,
                      const DotOptions& options) {
  std::string text = "digraph \"" + escaped(name) + "\" {\n    rankdir=TB;\n";
  if (!options.layout.empty()) text += "    " + options.layout + "\n";
  text +=
      "    node [shape=box, style=filled, fillcolor=white, fontname=Helvetica];\n"
      "    edge [fontname=Helvetica, fontsize=10];\n";
  for (size_t i = 0; i < sketches.size(); ++i) {
    // 0 means that there is no position.
    const std::string position = options.is_ordered ? ", sortv=" + std::to_string(i + 1) : "";
    for (const auto& mark : sketches[i].marks) {
      if (const Box* box = std::get_if<Box>(&mark)) {
        text += box_line(*box, options) + position + "];\n";
      } else {
        text += arrow_line(std::get<Arrow>(mark));
      }
    }
  }
  return text + "}\n";
}

std::string ir_to_dot(const IR& ir, const MermaidOptions& options) {
  return write_dot(printable_name(ir.model_name), {sketch_graph(ir, {.nodes = options.max_nodes})});
}

}  // namespace torch_ir
