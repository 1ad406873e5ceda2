#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>

#include "harness/report/markup.h"
#include "harness/report/page_text.h"
#include "harness/report/sections.h"
#include "torch_ir/analysis/cost.h"
#include "torch_ir/analysis/summary.h"
#include "torch_ir/base/text.h"
#include "torch_ir/visualize/mermaid.h"

namespace torch_ir {
namespace {

using Data = kainjow::mustache::data;

std::string values_table(const IR& ir) {
  Table table("llll", {"", "Name", "Shape", "Dtype"});
  const auto add = [&](const char* role, const std::vector<TensorMeta>& values) {
    for (const TensorMeta& value : values) {
      std::string name = code_cell(value.name);
      if (!value.mutates.empty()) name += ", new value of " + code_cell(value.mutates);
      table.add({role, name, code_cell(shape_text(value)), code_cell(value.dtype)});
    }
  };
  add("Input", ir.graph_inputs);
  add("Output", ir.graph_outputs);
  return table.markdown();
}

std::string attributes_cell(const OpNode& node) {
  std::vector<std::string> items;
  for (const auto& [name, value] : node.attrs) {
    std::ostringstream item;
    item << name << '=' << value;
    items.push_back(item.str());
  }
  return code_list(items, " ");
}

std::string values_cell(const std::vector<TensorMeta>& values) {
  std::vector<std::string> names;
  for (const TensorMeta& value : values) {
    names.push_back(value.arg.empty() ? value.name : value.arg + "=" + value.name);
  }
  return code_list(names, " ");
}

std::string outputs_cell(const std::vector<TensorMeta>& values) {
  std::vector<std::string> outputs;
  for (const TensorMeta& value : values) {
    outputs.push_back(shape_text(value) + " " + value.dtype);
  }
  return code_list(outputs, "<br>");
}

std::string known(const std::optional<int64_t>& count) {
  return count ? with_thousands_separators(*count) : "?";
}

std::string bytes_cell(const NodeCost& cost) {
  std::string text;
  for (const std::optional<int64_t>& bytes : cost.output_bytes) {
    text += (text.empty() ? "" : "<br>") + known(bytes);
  }
  return text;
}

// Numbers the nodes inside node 2 as 2.0.0, 2.0.1, ..., 2.1.0, ... They have no separate costs.
void add_nodes(const IRGraph& graph, const std::string& prefix, const std::vector<NodeCost>& costs,
               Table& table) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const OpNode& node = graph.nodes[i];
    const std::string index = prefix + std::to_string(i);
    const bool is_costed = i < costs.size();
    table.add({index, code_cell(node.name), code_cell(node.op_type), values_cell(node.inputs),
               outputs_cell(node.outputs), is_costed ? bytes_cell(costs[i]) : "",
               is_costed ? known(costs[i].multiply_adds) : "", attributes_cell(node)});
    for (size_t k = 0; k < node.graphs.size(); ++k) {
      add_nodes(node.graphs[k], index + "." + std::to_string(k) + ".", {}, table);
    }
  }
}

constexpr size_t kMostNodes = 1000;

std::string nodes_table(const IR& ir, const GraphCost& cost) {
  Table table("rllllrrl", {"#", "Node", "Operator", "Inputs", "Outputs", "Bytes", "Multiply-adds",
                           "Attributes"});
  add_nodes(ir, "", cost.nodes, table);
  const size_t num_rows = table.num_rows();
  if (num_rows <= kMostNodes) return table.markdown();
  table.shorten(kMostNodes);
  return table.markdown() +
         fmt::format("\n\nThe other {} are in `ir/` and in `index.html`.",
                     counted(static_cast<int64_t>(num_rows - kMostNodes), "node"));
}

std::string bytes_and_name(int64_t bytes, const std::string& name) {
  return name.empty() ? bytes_text(bytes) : bytes_text(bytes) + ", " + code_cell(name);
}

// "Bytes and multiply-adds are for the sizes of the first trial: `s0` = 4, `s1` = 16."
std::string sizes_text(const std::vector<std::pair<std::string, int64_t>>& sizes) {
  std::string text;
  for (const auto& [symbol, size] : sizes) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", code_span(symbol), size);
  }
  return "Bytes and multiply-adds are for the sizes of the first trial: " + text + ".";
}

std::string operators_table(const GraphCost& cost) {
  Table table("lrrrr", {"Operator", "Nodes", "Multiply-adds", "Parameters", "Bytes of outputs"});
  for (const OperatorCost& op : cost.operators) {
    const bool is_counted =
        std::ranges::find(cost.totals.not_counted, op.op_type, &NotCounted::op_type) ==
        cost.totals.not_counted.end();
    table.add({code_cell(op.op_type), op.num_nodes, at_least_text(op.multiply_adds, is_counted),
               op.parameters, bytes_text(op.output_bytes)});
  }
  return table.markdown();
}

std::string weight_kind(const std::string& placeholder) {
  if (placeholder.starts_with("p_")) return "parameter";
  if (placeholder.starts_with("b_")) return "buffer";
  return placeholder.starts_with("c_") ? "constant" : "";
}

Table weights_table(const IR& ir) {
  std::unordered_map<std::string, std::string> placeholders;
  for (const auto& item : ir.weight_name_mapping) placeholders.emplace(item.value(), item.key());
  Table table("lllllr", {"Name", "Kind", "Placeholder", "Shape", "Dtype", "Elements"});
  for (const TensorMeta& weight : ir.weights) {
    const std::string& placeholder = placeholders[weight.name];
    table.add({code_cell(weight.name), weight_kind(placeholder), code_cell(placeholder),
               code_cell(shape_text(weight.shape)), code_cell(weight.dtype), num_elements(weight)});
  }
  return table;
}

std::string summary_table(const IRSummary& summary) {
  Table table("rrrrrr", {"Nodes", "Edges", "Inputs", "Outputs", "Weights", "Total parameters"});
  table.add({summary.num_nodes, summary.num_edges, summary.num_inputs, summary.num_outputs,
             summary.num_weights, summary.total_parameters});
  return table.markdown();
}

std::string costs_table(const CostTotals& totals) {
  Table table("rrrrr", {"Multiply-adds", "Weights", "Inputs", "Largest value", "Smallest peak"});
  table.add({totals.multiply_adds, bytes_text(totals.weight_bytes), bytes_text(totals.input_bytes),
             bytes_and_name(totals.largest_bytes, totals.largest_value),
             bytes_and_name(totals.peak_bytes, totals.peak_node)});
  return table.markdown();
}

std::string cut_text(const IR& ir, const MermaidFlowchart& chart) {
  if (chart.is_folded) return " The diagram shows its modules.";
  if (chart.num_nodes == static_cast<int64_t>(ir.nodes.size())) return "";
  const std::string count = fmt::format("{} of {} nodes", chart.num_nodes, ir.nodes.size());
  if (chart.num_nodes == 0) return " The diagram shows " + count + ".";
  return fmt::format(" The diagram ends after node {} ({}).",
                     code_span(ir.nodes[chart.num_nodes - 1].name), count);
}

// Mermaid folds a large graph into modules, draws a small graph whole, and cuts others short.
std::string picture_text(const std::string& name, bool is_folded, bool is_cut,
                         const GraphPicture& picture) {
  if (picture.svg.empty()) {
    if (picture.problem.empty()) return "";
    return "There is no picture of the graph: " + escape_markdown(picture.problem) + ".";
  }
  const std::string file = "svg/" + name + ".svg";
  const std::string link = fmt::format("[{}]({})", code_span(file), link_target(file));
  if (is_folded) return "A picture of its modules, which open in `index.html`: " + link + ".";
  if (!is_cut) return "A picture of all nodes: " + link + ".";
  return fmt::format("The whole graph, {0}:\n\n[![The graph of {1}]({2})]({2})", link,
                     escape_markdown(name), link_target(file));
}

}  // namespace

SectionData graph_section(const ModelPage& page) {
  const Result& result = page.result;
  if (!result.graph) return std::nullopt;
  const std::string& name = result.name;
  const IR& ir = *result.graph;
  const Program program = result.program();
  const IRSummary summary = summarize(program);
  const GraphCost cost = result.cost();
  MermaidOptions options = kReportMermaidOptions;
  if (ir.nodes.size() > kMaxUnfoldedNodes) options.max_nodes = kAllNodes;
  const MermaidFlowchart chart = draw_mermaid(program, options);
  const std::string cut = cut_text(ir, chart);
  const CostTotals& totals = cost.totals;
  Data data;
  data.set("summary", summary_table(summary));
  data.set("costs", costs_table(totals));
  if (!result.sizes.empty()) data.set("sizes", sizes_text(result.sizes));
  set_some(data, "not_counted", escape_markdown(as_sentence(not_counted_text(totals))));
  if (totals.num_unknown_sizes > 0) {
    data.set("unknown_sizes",
             fmt::format("Only a run can tell the size of {}, so no figure includes {}.",
                         counted(totals.num_unknown_sizes, "value"),
                         totals.num_unknown_sizes == 1 ? "it" : "them"));
  }
  data.set("values", values_table(ir));
  const std::string file = "ir/" + name + ".json";
  data.set("file", fmt::format("[{}]({})", code_span(file), link_target(file)));
  data.set("flowchart", code_block(chart.text, "mermaid"));
  data.set("cut", cut);
  set_some(data, "picture", picture_text(name, chart.is_folded, !cut.empty(), page.picture));
  data.set("pie", code_block(generate_op_distribution_pie(program), "mermaid"));
  data.set("operators", operators_table(cost));
  data.set("counted_nodes", counted(summary.num_nodes, "node"));
  data.set("nodes", nodes_table(ir, cost));
  set_some(data, "weights", weights_table(ir));
  return data;
}

}  // namespace torch_ir
