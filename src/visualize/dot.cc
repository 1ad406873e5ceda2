#include "torch_ir/visualize/dot.h"

#include <string_view>

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

class Writer {
 public:
  explicit Writer(std::string_view name) {
    text_ = "digraph \"" + escaped(name) +
            "\" {\n"
            "    rankdir=TB;\n"
            "    node [shape=box, style=filled, fillcolor=white, fontname=Helvetica];\n"
            "    edge [fontname=Helvetica, fontsize=10];\n";
  }

  void operator()(const Box& box) {
    std::string label = escaped(box.title);
    if (!box.detail.empty()) label += "\\n" + escaped(box.detail);
    text_ += "    " + box.id + " [label=\"" + label + "\"";
    (text_ += style(box.kind)) += "];\n";
  }

  void operator()(const Arrow& arrow) {
    text_ += "    " + arrow.from + " -> " + arrow.to + " [label=\"" + escaped(arrow.label) + "\"";
    text_ += arrow.from_weight ? ", style=dashed];\n" : "];\n";
  }

  std::string take() && { return std::move(text_ += "}\n"); }

 private:
  std::string text_;
};

}  // namespace

std::string ir_to_dot(const IR& ir, const MermaidOptions& options) {
  const GraphSketch sketch = sketch_graph(ir, {.nodes = options.max_nodes});
  Writer writer(printable_name(ir.model_name));
  for (const auto& mark : sketch.marks) std::visit(writer, mark);
  return std::move(writer).take();
}

}  // namespace torch_ir
