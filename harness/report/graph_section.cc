#include <fmt/format.h>

#include <sstream>
#include <unordered_map>

#include "harness/report/markup.h"
#include "harness/report/page_text.h"
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

// Nodes of the graphs of node 2 have the numbers 2.0.0, 2.0.1, ..., 2.1.0, ...
void add_node_rows(const Graph& graph, const std::string& prefix, List& rows) {
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
    rows.push_back(row);
    for (size_t k = 0; k < node.graphs.size(); ++k) {
      add_node_rows(node.graphs[k], index + "." + std::to_string(k) + ".", rows);
    }
  }
}

List node_rows(const IR& ir) {
  List rows;
  add_node_rows(ir, "", rows);
  return rows;
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

Data graph_section(const std::string& name, const IR& ir, const RunContext& context,
                   const GraphPicture& picture) {
  const IRSummary summary = summarize(ir);
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
  data.set("node_rows", node_rows(ir));
  data.set("has_weights", !ir.weights.empty());
  data.set("weight_rows", weight_rows(ir));
  return data;
}

}  // namespace torch_ir
