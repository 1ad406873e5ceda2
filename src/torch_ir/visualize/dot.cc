#include "torch_ir/visualize/dot.h"

#include <utility>
#include <variant>

#include "torch_ir/visualize/dot_writer.h"
#include "torch_ir/visualize/labels.h"
#include "torch_ir/visualize/sketch.h"

namespace torch_ir {
namespace {

// Attributes of a box beside its label; empty for operators, which look as the graph says.
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

// Between double quotes. Backslashes are escapes, and "&amp;" is an ampersand, in Graphviz's
// labels.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
    if (c == '&') result += "amp;";
  }
  return result;
}

}  // namespace

DotWriter::DotWriter(std::string_view name, std::string_view layout) {
  text_ = "digraph \"" + escaped(name) + "\" {\n    rankdir=TB;\n";
  if (!layout.empty()) text_ += "    " + std::string(layout) + "\n";
  text_ +=
      "    node [shape=box, style=filled, fillcolor=white, fontname=Helvetica];\n"
      "    edge [fontname=Helvetica, fontsize=10];\n";
}

void DotWriter::add(const GraphSketch& sketch, std::optional<size_t> position) {
  // 0 means that there is no position.
  const std::string attributes = position ? ", sortv=" + std::to_string(*position + 1) : "";
  for (const auto& mark : sketch.marks) {
    if (const Box* box = std::get_if<Box>(&mark)) {
      add(*box, attributes);
    } else {
      add(std::get<Arrow>(mark));
    }
  }
}

void DotWriter::add(const Box& box, const std::string& attributes) {
  const bool stands_out =
      box.kind == BoxKind::kOperator && !highlighted_.empty() && box.name == highlighted_;
  std::string label = escaped(box.title);
  if (!box.detail.empty()) label += "\\n" + escaped(box.detail);
  if (stands_out) label += "\\nfirst difference";
  text_ += "    " + box.id + " [label=\"" + label + "\"";
  text_ += style(box.kind);
  if (stands_out) text_ += ", color=\"#cf222e\", penwidth=3, fillcolor=\"#ffebe9\"";
  text_ += attributes + "];\n";
}

void DotWriter::add(const Arrow& arrow) {
  text_ += "    " + arrow.from + " -> " + arrow.to + " [label=\"" + escaped(arrow.label) + "\"";
  text_ += arrow.from_weight ? ", style=dashed];\n" : "];\n";
}

std::string ir_to_dot(const IR& ir, const MermaidOptions& options) {
  DotWriter writer(printable_name(ir.model_name));
  writer.add(sketch_graph(ir, {.nodes = options.max_nodes}));
  return std::move(writer).take();
}

}  // namespace torch_ir
