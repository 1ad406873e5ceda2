#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>

#include "harness/report/page_text.h"
#include "torch_ir/analysis/cost.h"
#include "torch_ir/analysis/module_costs.h"
#include "torch_ir/analysis/summary.h"
#include "torch_ir/visualize/mermaid.h"

namespace torch_ir {
namespace {

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

// "1,200", "≥ 1,200", "?".
std::string at_least_text(int64_t known, bool is_complete) {
  const std::string text = with_thousands_separators(known);
  if (is_complete) return text;
  return known > 0 ? "≥ " + text : "?";
}

std::string bytes_and_name(int64_t bytes, const std::string& name) {
  return name.empty() ? bytes_text(bytes) : bytes_text(bytes) + ", " + code_cell(name);
}

// "Bytes and multiply-adds are for the sizes of the first trial: `s0` = 4, `s1` = 16."
std::string sizes_text(const std::vector<std::pair<std::string, int64_t>>& sizes) {
  if (sizes.empty()) return "";
  std::string text;
  for (const auto& [symbol, size] : sizes) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", code_span(symbol), size);
  }
  return "Bytes and multiply-adds are for the sizes of the first trial: " + text + ".";
}

std::string unknown_sizes_text(int64_t num_values) {
  if (num_values == 0) return "";
  return fmt::format("Only a run can tell the size of {}, so no figure includes {}.",
                     counted(num_values, "value"), num_values == 1 ? "it" : "them");
}

Table operators_table(const GraphCost& cost) {
  Table table("lrrrr", {"Operator", "Nodes", "Multiply-adds", "Parameters", "Bytes of outputs"});
  for (const OperatorCost& op : cost.operators) {
    table.add({code_cell(op.op_type), op.num_nodes, at_least_text(op.multiply_adds, op.is_counted),
               op.parameters, bytes_text(op.output_bytes)});
  }
  return table;
}

std::string modules_section(const Result& result, const GraphCost& cost) {
  Table table("lrrrr", {"Module", "Nodes", "Multiply-adds", "Parameters", "Max abs. error"});
  // By node index.
  std::unordered_map<size_t, double> errors;
  if (result.nodes) {
    for (const NodeError& error : result.nodes->errors) {
      errors[static_cast<size_t>(error.index)] = error.max_diff;
    }
  }
  for (const ModuleCost& module : costs_by_module(result.program(), cost)) {
    DifferenceMetrics worst;
    for (const size_t index : module.nodes) {
      const auto error = errors.find(index);
      if (error != errors.end()) keep_worst(worst, {.max_diff = error->second});
    }
    table.add({module.path.empty() ? "other nodes" : code_cell(module.path),
               std::ssize(module.nodes), at_least_text(module.multiply_adds, module.is_counted),
               module.parameters,
               errors.empty()   ? ""
               : worst.max_diff ? short_number(worst.max_diff)
                                : "–"});
  }
  const std::string note = table.num_rows() == 0 ? ""
                                                 : "A row excludes submodules that have their own "
                                                   "rows. A weight that several modules read "
                                                   "counts in each of them.";
  return section("## Modules", {table.without_empty_columns().markdown(), note});
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

std::string file_link(const std::string& file) {
  return fmt::format("[{}]({})", code_span(file), link_target(file));
}

// Mermaid folds a large graph into modules, draws a small graph whole, and cuts others short.
std::string picture_text(const std::string& name, bool is_folded, bool is_cut,
                         const GraphPicture& picture) {
  if (picture.svg.empty()) {
    if (picture.problem.empty()) return "";
    return "There is no picture of the graph: " + escape_markdown(picture.problem) + ".";
  }
  const std::string file = "svg/" + name + ".svg";
  const std::string link = file_link(file);
  if (is_folded) return "A picture of its modules, which open in `index.html`: " + link + ".";
  if (!is_cut) return "A picture of all nodes: " + link + ".";
  return fmt::format("The whole graph, {0}:\n\n[![The graph of {1}]({2})]({2})", link,
                     escape_markdown(name), link_target(file));
}

}  // namespace

std::string graph_summary_section(const Result& result) {
  if (!result.graph) return "";
  const auto [figures, costs, fingerprint] = *result.graph_summary();
  return section("## Summary",
                 {summary_table(figures), costs_table(costs), sizes_text(result.sizes),
                  escape_markdown(as_sentence(not_counted_text(costs))),
                  unknown_sizes_text(costs.num_unknown_sizes), values_table(*result.graph)});
}

std::string graph_section(const Result& result, const GraphPicture& picture) {
  if (!result.graph) return "";
  const IR& ir = *result.graph;
  const Program program = result.program();
  const GraphCost cost = result.cost();
  MermaidOptions options = kReportMermaidOptions;
  if (ir.nodes.size() > kMaxUnfoldedNodes) options.max_nodes = kAllNodes;
  const MermaidFlowchart chart = draw_mermaid(program, options);
  const std::string cut = cut_text(ir, chart);
  const std::string weights = weights_table(ir).markdown();
  return section(
      "## Graph",
      {code_block(chart.text, "mermaid"),
       "Solid arrows are activations, dashed arrows are weights." + cut +
           " The whole graph as JSON: " + file_link("ir/" + result.name + ".json") + ".",
       picture_text(result.name, chart.is_folded, !cut.empty(), picture),
       modules_section(result, cost), "## Operators",
       code_block(generate_op_distribution_pie(program), "mermaid"),
       operators_table(cost).markdown(),
       "Multiply-adds count the multiplications of convolutions, matrix products, attention and "
       "recurrent layers. Parameters count the elements of all weights, including buffers. The "
       "smallest peak is the least memory that the values of nodes need when nodes run in order; "
       "views share the memory of their base.",
       section("## Nodes", {folded(counted(std::ssize(ir.nodes), "node") + " in execution order",
                                   nodes_table(ir, cost))}),
       "## Weights", weights.empty() ? "The graph has no weights." : weights});
}

}  // namespace torch_ir
