#include "torch_ir/visualize/mermaid.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "torch_ir/analysis/summary.h"
#include "torch_ir/visualize/labels.h"
#include "torch_ir/visualize/sketch.h"

namespace torch_ir {
namespace {

// Inputs and outputs get at most this part of a diagram that is cut; the nodes get the rest.
constexpr int64_t kTerminalShare = 2;

struct Brackets {
  std::string_view open;
  std::string_view close;
};

Brackets brackets(BoxKind kind) {
  switch (kind) {
    case BoxKind::kInput:
    case BoxKind::kWeight:
      return {R"([/")", R"("/])"};
    case BoxKind::kOutput:
      return {R"([\")", R"("/])"};
    case BoxKind::kOperator:
    case BoxKind::kNote:
      return {R"([")", R"("])"};
    case BoxKind::kModule:
      return {R"([[")", R"("]])"};
  }
  return {};
}

class Writer {
 public:
  void operator()(const Box& box) {
    const Brackets around = brackets(box.kind);
    (text_ += "    ") += box.id;
    (text_ += around.open) += mermaid_label(box.title);
    if (!box.detail.empty()) (text_ += "<br/>") += mermaid_label(box.detail);
    (text_ += around.close) += '\n';
  }

  void operator()(const Arrow& arrow) {
    (text_ += "    ") += arrow.from;
    text_ += arrow.from_weight ? " -.->" : " -->";
    if (!arrow.label.empty()) ((text_ += "|\"") += mermaid_label(arrow.label)) += "\"|";
    ((text_ += ' ') += arrow.to) += '\n';
  }

  void operator()(const PartFrame& frame) {
    ((text_ += "    subgraph ") += frame.id) += "[\"";
    (text_ += mermaid_label(frame.title)) += "\"]\n";
  }

  void operator()(const PartFrameEnd&) { text_ += "    end\n"; }

  std::string take() && { return std::move(text_); }

 private:
  std::string text_ = "flowchart TD\n";
};

struct Flowchart {
  std::string text;
  int64_t num_edges;

  // Counts bytes, which are never fewer than characters.
  bool fits(int64_t max_edges, int64_t max_characters) const {
    return num_edges <= max_edges && static_cast<int64_t>(text.size()) <= max_characters;
  }
};

Flowchart write_mermaid(const GraphSketch& sketch) {
  Writer writer;
  for (const auto& mark : sketch.marks) std::visit(writer, mark);
  return {std::move(writer).take(), sketch.num_arrows};
}

// The largest number in [0, high] for which the monotonic `fits` holds; 0 if there is none.
template <class Predicate>
int64_t largest_that_fits(int64_t high, const Predicate& fits) {
  int64_t low = 0;
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

constexpr size_t kMaxOperators = 10;
constexpr std::string_view kOthers = "Others";

// The short label of an operator, or its whole name, or that with a number: Mermaid drops the
// second of two slices with the same label.
std::string slice_label(const std::string& op_type, std::unordered_set<std::string>& taken) {
  std::string label = mermaid_label(printable_name(operator_label(op_type)));
  const std::string whole = mermaid_label(printable_name(op_type));
  for (int64_t i = 1; !taken.insert(label).second; ++i) {
    label = i == 1 ? whole : whole + " (" + std::to_string(i) + ")";
  }
  return label;
}

std::string slice(std::string_view label, int64_t count) {
  return "    \"" + std::string(label) + "\" : " + std::to_string(count) + "\n";
}

}  // namespace

MermaidFlowchart draw_mermaid(const IR& ir, const MermaidOptions& options) {
  const Sketchbook book(ir, options.module);
  const Part& part = book.root();
  const auto num_nodes = static_cast<int64_t>(part.num_nodes());
  const auto is_drawable = [&](const Flowchart& chart) {
    return chart.fits(options.max_edges, options.max_characters);
  };
  if (options.max_nodes == kAllNodes && Sketchbook::is_folded(part, options.depth)) {
    Flowchart chart = write_mermaid(book.draw(part, options.depth));
    if (is_drawable(chart)) {
      return {.text = std::move(chart.text), .num_nodes = num_nodes, .is_folded = true};
    }
  }
  const auto draw = [&](const SketchLimits& limits) {
    return write_mermaid(book.draw_nodes(part, limits));
  };
  const auto fits = [&](const SketchLimits& limits, int64_t share) {
    return draw(limits).fits(options.max_edges / share, options.max_characters / share);
  };
  SketchLimits limits = {.nodes = options.max_nodes};
  Flowchart chart = draw(limits);
  if (is_drawable(chart)) {
    return {.text = std::move(chart.text), .num_nodes = std::min(options.max_nodes, num_nodes)};
  }

  const int64_t num_terminals = std::max(ir.graph_inputs.size(), ir.graph_outputs.size());
  const int64_t terminals = largest_that_fits(num_terminals, [&](int64_t count) {
    return fits({.nodes = 0, .inputs = count, .outputs = count}, kTerminalShare);
  });
  limits = {.inputs = terminals, .outputs = terminals};
  limits.nodes = largest_that_fits(std::min(options.max_nodes, num_nodes), [&](int64_t count) {
    return fits({.nodes = count, .inputs = terminals, .outputs = terminals}, 1);
  });
  return {.text = draw(limits).text, .num_nodes = limits.nodes};
}

std::string ir_to_mermaid(const IR& ir, const MermaidOptions& options) {
  return draw_mermaid(ir, options).text;
}

std::string generate_op_distribution_pie(const IR& ir) {
  if (ir.nodes.empty()) return "pie showData title No operators\n";
  const IRSummary summary = summarize(ir);
  std::string text = "pie showData\n";
  std::unordered_set<std::string> taken = {std::string(kOthers)};
  int64_t shown = 0;
  for (size_t i = 0; i < summary.op_distribution.size() && i < kMaxOperators; ++i) {
    const auto& [op_type, count] = summary.op_distribution[i];
    if (count * 100 < summary.num_nodes) break;
    text += slice(slice_label(op_type, taken), count);
    shown += count;
  }
  if (shown < summary.num_nodes) text += slice(kOthers, summary.num_nodes - shown);
  return text;
}

}  // namespace torch_ir
