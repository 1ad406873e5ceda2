#include "torch_ir/visualize/mermaid.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <ranges>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "torch_ir/analysis/summary.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/visualize/labels.h"
#include "torch_ir/visualize/sketch.h"

namespace torch_ir {
namespace {

// The shapes of boxes, by kind.
constexpr std::pair<const char*, const char*> kBrackets[] = {
    /*kInput=*/{R"([/")", R"("/])"},  /*kOperator=*/{R"([")", R"("])"},
    /*kModule=*/{R"([[")", R"("]])"}, /*kWeight=*/{R"([/")", R"("/])"},
    /*kOutput=*/{R"([\")", R"("/])"}, /*kNote=*/{R"([")", R"("])"},
};
static_assert(std::size(kBrackets) == static_cast<size_t>(BoxKind::kNote) + 1);

struct MermaidLine {
  std::string operator()(const Box& box) const {
    const auto [open, close] = kBrackets[static_cast<size_t>(box.kind)];
    const std::string detail = box.detail.empty() ? "" : "<br/>" + mermaid_label(box.detail);
    return box.id + open + mermaid_label(box.title) + detail + close;
  }

  std::string operator()(const Arrow& arrow) const {
    const std::string label = arrow.label.empty() ? "" : "|\"" + mermaid_label(arrow.label) + "\"|";
    return arrow.from + (arrow.from_weight ? " -.->" : " -->") + label + " " + arrow.to;
  }

  std::string operator()(const PartFrame& frame) const {
    return "subgraph " + frame.id + "[\"" + mermaid_label(frame.title) + "\"]";
  }

  std::string operator()(const PartFrameEnd&) const { return "end"; }
};

std::string write_mermaid(const GraphSketch& sketch) {
  std::string text = "flowchart TD\n";
  for (const auto& mark : sketch) text += "    " + std::visit(MermaidLine(), mark) + "\n";
  return text;
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

MermaidFlowchart draw_mermaid(const Program& program, const MermaidOptions& options) {
  const Sketchbook book(program, options.module);
  const Part& part = book.root();
  const auto num_nodes = static_cast<int64_t>(part.num_nodes());
  // No text beyond the limits. Counts bytes, which are never fewer than characters.
  const auto write = [&](const GraphSketch& sketch) -> std::optional<std::string> {
    const auto is_arrow = [](const auto& mark) { return std::holds_alternative<Arrow>(mark); };
    if (std::ranges::count_if(sketch, is_arrow) > options.max_edges) return std::nullopt;
    std::string text = write_mermaid(sketch);
    if (static_cast<int64_t>(text.size()) > options.max_characters) return std::nullopt;
    return text;
  };
  if (options.max_nodes == kAllNodes && Sketchbook::is_folded(part, options.depth)) {
    if (auto text = write(book.draw(part, options.depth))) {
      return {.text = *std::move(text), .num_nodes = num_nodes, .is_folded = true};
    }
  }
  const int64_t max_nodes = std::min(options.max_nodes, num_nodes);
  if (auto text = write(book.draw_nodes(part, {.nodes = options.max_nodes}))) {
    return {.text = *std::move(text), .num_nodes = max_nodes};
  }

  const auto draw = [&](int64_t count) { return book.draw_nodes(part, {count, count, count}); };
  const auto fits = [&](int64_t count) { return write(draw(count)).has_value(); };
  const auto counts = std::views::iota(int64_t{1}, max_nodes + 1);
  // The largest that fits; 0 if there is none.
  const int64_t count = *std::ranges::partition_point(counts, fits) - 1;
  return {.text = write_mermaid(draw(count)), .num_nodes = count};
}

std::string ir_to_mermaid(const IR& ir, const MermaidOptions& options) {
  return draw_mermaid(resolve(ir, GraphChecks::kStructure), options).text;
}

std::string generate_op_distribution_pie(const Graph& graph) {
  if (graph.nodes.empty()) return "pie showData title No operators\n";
  const auto operators = count_operators(graph);
  const auto num_nodes = std::ssize(graph.nodes);
  std::string text = "pie showData\n";
  std::unordered_set<std::string> taken = {std::string(kOthers)};
  int64_t shown = 0;
  for (size_t i = 0; i < operators.size() && i < kMaxOperators; ++i) {
    const auto& [op_type, count] = operators[i];
    if (count * 100 < num_nodes) break;
    text += slice(slice_label(op_type, taken), count);
    shown += count;
  }
  if (shown < num_nodes) text += slice(kOthers, num_nodes - shown);
  return text;
}

std::string generate_op_distribution_pie(const IR& ir) {
  return generate_op_distribution_pie(resolve(ir, GraphChecks::kStructure));
}

}  // namespace torch_ir
