#include <fmt/format.h>

#include <sstream>
#include <unordered_map>

#include "harness/report/markup.h"
#include "harness/report/page_text.h"
#include "torch_ir/analysis/cost.h"
#include "torch_ir/analysis/summary.h"
#include "torch_ir/visualize/mermaid.h"

namespace torch_ir {
namespace {

using Data = kainjow::mustache::data;
using List = kainjow::mustache::list;

List value_rows(const std::vector<TensorMeta>& values) {
  List rows;
  for (const TensorMeta& value : values) {
    Data row;
    row.set("name", value.mutates.empty()
                        ? code_cell(value.name)
                        : code_cell(value.name) + ", new value of " + code_cell(value.mutates));
    row.set("shape", code_cell(shape_text(value)));
    row.set("dtype", code_cell(value.dtype));
    rows.push_back(row);
  }
  return rows;
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

// Nodes of the graphs of node 2 have the numbers 2.0.0, 2.0.1, ..., 2.1.0, ... What these cost is
// not known one by one.
void add_node_rows(const Graph& graph, const std::string& prefix,
                   const std::vector<NodeCost>& costs, List& rows) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const OpNode& node = graph.nodes[i];
    const std::string index = prefix + std::to_string(i);
    Data row;
    row.set("index", index);
    row.set("name", code_cell(node.name));
    row.set("op", code_cell(node.op_type));
    row.set("inputs", values_cell(node.inputs));
    row.set("outputs", outputs_cell(node.outputs));
    row.set("attributes", attributes_cell(node));
    const bool is_costed = i < costs.size();
    row.set("multiply_adds", is_costed ? known(costs[i].multiply_adds) : "");
    row.set("bytes", is_costed ? bytes_cell(costs[i]) : "");
    rows.push_back(row);
    for (size_t k = 0; k < node.graphs.size(); ++k) {
      add_node_rows(node.graphs[k], index + "." + std::to_string(k) + ".", {}, rows);
    }
  }
}

List node_rows(const IR& ir, const GraphCost& cost) {
  List rows;
  add_node_rows(ir, "", cost.nodes, rows);
  return rows;
}

// "131 kB, `conv2d`"
std::string bytes_and_name(int64_t bytes, const std::string& name) {
  return name.empty() ? bytes_text(bytes) : bytes_text(bytes) + ", " + code_cell(name);
}

// "Bytes and multiply-adds are those of the first trial, with `s0` = 4, `s1` = 16."
std::string sizes_text(const std::vector<SymbolSize>& sizes) {
  std::string text;
  for (const SymbolSize& size : sizes) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", code_span(size.symbol), size.value);
  }
  return "Bytes and multiply-adds are those of the first trial, with " + text + ".";
}

void set_costs(Data& data, const GraphCost& cost) {
  const CostTotals& totals = cost.totals;
  data.set("multiply_adds", with_thousands_separators(totals.multiply_adds));
  data.set("weight_bytes", bytes_text(totals.weight_bytes));
  data.set("input_bytes", bytes_text(totals.input_bytes));
  data.set("largest", bytes_and_name(totals.largest_bytes, totals.largest_value));
  data.set("peak", bytes_and_name(totals.peak_bytes, totals.peak_node));
  if (const std::string text = not_counted_text(totals); !text.empty()) {
    data.set("not_counted", escape_markdown(as_sentence(text)));
  }
  if (totals.num_unknown_sizes > 0) {
    data.set("unknown_sizes",
             fmt::format("Of {} only a run knows the bytes: they are in no figure.",
                         counted(totals.num_unknown_sizes, "value")));
  }
  List rows;
  for (const OperatorCost& op : cost.operators) {
    Data row;
    row.set("op", code_cell(op.op_type));
    row.set("nodes", with_thousands_separators(op.num_nodes));
    row.set("multiply_adds", with_thousands_separators(op.multiply_adds));
    row.set("parameters", with_thousands_separators(op.parameters));
    row.set("bytes", bytes_text(op.output_bytes));
    rows.push_back(row);
  }
  data.set("operators", rows);
}

std::string weight_kind(const std::string& placeholder) {
  if (placeholder.starts_with("p_")) return "parameter";
  if (placeholder.starts_with("b_")) return "buffer";
  return placeholder.starts_with("c_") ? "constant" : "";
}

List weight_rows(const IR& ir) {
  std::unordered_map<std::string, std::string> placeholders;
  for (const auto& item : ir.weight_name_mapping) placeholders.emplace(item.value(), item.key());
  List rows;
  for (const TensorMeta& weight : ir.weights) {
    const std::string& placeholder = placeholders[weight.name];
    Data row;
    row.set("name", code_cell(weight.name));
    row.set("kind", weight_kind(placeholder));
    row.set("placeholder", code_cell(placeholder));
    row.set("shape", code_cell(shape_text(weight.shape)));
    row.set("dtype", code_cell(weight.dtype));
    row.set("elements", with_thousands_separators(num_elements(weight)));
    rows.push_back(row);
  }
  return rows;
}

// Where the diagram had to be cut.
std::string cut_text(const IR& ir, const MermaidFlowchart& chart) {
  if (chart.num_nodes == static_cast<int64_t>(ir.nodes.size())) return "";
  const std::string count = fmt::format("{} of {}", chart.num_nodes, ir.nodes.size());
  if (chart.num_nodes == 0) return " The diagram shows no nodes, " + count + ".";
  return fmt::format(" The diagram is cut after node {}, {}.",
                     code_span(ir.nodes[chart.num_nodes - 1].name), count);
}

// The picture itself where the diagram does not show all; a link where it does.
std::string picture_text(const std::string& name, bool is_cut, const RunContext& context,
                         const GraphPicture& picture) {
  if (!context.portable && picture.svg.empty()) {
    if (picture.problem.empty()) return "";
    return "There is no picture of the graph: " + escape_markdown(picture.problem) + ".";
  }
  const std::string file = "svg/" + name + ".svg";
  const std::string link = fmt::format("[{}]({})", code_span(file), link_target(file));
  if (!is_cut) return "As a picture, without limits: " + link + ".";
  return fmt::format("The whole graph, {0}:\n\n[![The graph of {1}]({2})]({2})", link,
                     escape_markdown(name), link_target(file));
}

}  // namespace

Data graph_section(const ModelResult& result, const RunContext& context,
                   const GraphPicture& picture) {
  const std::string& name = result.name;
  const IR& ir = *result.graph;
  const IRSummary summary = summarize(ir);
  const GraphCost cost = result.cost();
  const MermaidFlowchart chart = draw_mermaid(ir, kReportMermaidOptions);
  const std::string cut = cut_text(ir, chart);
  Data data;
  data.set("nodes", with_thousands_separators(summary.num_nodes));
  data.set("counted_nodes", counted(summary.num_nodes, "node"));
  data.set("edges", with_thousands_separators(summary.num_edges));
  data.set("num_inputs", with_thousands_separators(summary.num_inputs));
  data.set("num_outputs", with_thousands_separators(summary.num_outputs));
  data.set("num_weights", with_thousands_separators(summary.num_weights));
  data.set("total_parameters", with_thousands_separators(summary.total_parameters));
  data.set("inputs", value_rows(ir.graph_inputs));
  data.set("outputs", value_rows(ir.graph_outputs));
  const std::string file = "ir/" + name + ".json";
  data.set("file", fmt::format("[{}]({})", code_span(file), link_target(file)));
  data.set("flowchart", code_block(chart.text, "mermaid"));
  data.set("cut", cut);
  if (std::string text = picture_text(name, !cut.empty(), context, picture); !text.empty()) {
    data.set("picture", text);
  }
  data.set("pie", code_block(generate_op_distribution_pie(ir), "mermaid"));
  data.set("node_rows", node_rows(ir, cost));
  set_costs(data, cost);
  if (!result.sizes.empty()) data.set("sizes", sizes_text(result.sizes));
  data.set("has_weights", !ir.weights.empty());
  data.set("weight_rows", weight_rows(ir));
  return data;
}

}  // namespace torch_ir
