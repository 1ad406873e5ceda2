#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>

#include "torch_ir/executor/optimization_name.h"
#include "torch_ir/harness/markdown.h"
#include "torch_ir/harness/page_text.h"
#include "torch_ir/harness/pages.h"
#include "torch_ir/templates/templates.h"
#include "torch_ir/visualize/mermaid.h"
#include "torch_ir/visualize/summary.h"

namespace torch_ir {
namespace {

using Data = kainjow::mustache::data;
using List = kainjow::mustache::list;

// What the outputs are compared with, in the places that say it.
struct Reference {
  // "the graph computes what ..."
  std::string verdict;
  // "2 outputs compared with ..."
  std::string detail;
  // "Worst element of x: the graph gives 1, ... 2"
  std::string worst;
  // A sentence.
  std::string explanation;
};

Reference reference_of(const ModelResult& result) {
  if (!result.origin) {
    return {.verdict = "the model computes",
            .detail = "the model's own",
            .worst = "the model gives",
            .explanation =
                "Expected is what the model itself computes, run eagerly with the same "
                "weights on the same inputs."};
  }
  if (result.origin->expected.empty()) {
    return {.verdict = "its operators compute one by one",
            .detail = "what the operators compute one by one",
            .worst = "expected is",
            .explanation =
                "No file says what to expect of the model. Expected is what its "
                "operators compute, each called eagerly on the program as it was "
                "imported, before it was converted and written, with the same weights "
                "on the same inputs."};
  }
  const std::string file = code_span(result.origin->expected);
  return {.verdict = file + " says",
          .detail = "those in " + file,
          .worst = "expected is",
          .explanation = "Expected is what " + file + " says."};
}

std::string inputs_text(const ModelResult& result, const PageContext& context) {
  if (!result.origin) {
    return fmt::format("the weights and inputs of seed {}", context.settings.seed);
  }
  if (result.origin->inputs.empty()) return "the weights and the example inputs of the archive";
  return "the weights of the archive and the inputs in " + code_span(result.origin->inputs);
}

std::string verdict(const ModelResult& result, const PageContext& context) {
  if (result.failure) {
    return fmt::format("❌ **FAILED** in the stage **{}**:", stage_name(result.failure->stage));
  }
  return fmt::format("✅ **PASSED**: the graph computes what {}. Maximum difference: {}",
                     reference_of(result).verdict,
                     difference_text(result.worst_trial()->verification.max_diff, context));
}

// Where the model is from, in a sentence.
std::string description(const ModelResult& result) {
  if (!result.origin) return escape_markdown(result.description);
  std::string text = "Imported from " + code_span(result.origin->archive);
  if (result.graph) {
    text += ", which PyTorch " + escape_markdown(result.graph->pytorch_version) +
            " exported from " + code_span(result.graph->model_name);
  }
  return text + ".";
}

Data failure_data(const Failure& failure) {
  Data data;
  data.set("message", code_block(failure.message));
  if (!failure.output.empty()) data.set("output", code_block(failure.output));
  return data;
}

std::string stage_detail(Stage stage, const ModelResult& result, const PageContext& context) {
  switch (stage) {
    case Stage::kExtract:
      return counted(static_cast<int64_t>(result.graph->nodes.size()), "node") +
             (result.origin ? ", read from the archive; nothing in it was executed"
                            : ", captured on the meta device: no weight in memory");
    case Stage::kSerialize:
      return "written, read back, valid, and equal to what was written";
    case Stage::kExecute:
      return "what was read back, with " + table_cell(inputs_text(result, context));
    case Stage::kVerify:
      return counted(static_cast<int64_t>(result.worst_trial()->verification.output_details.size()),
                     "output") +
             " compared with " + table_cell(reference_of(result).detail) +
             ", all within the tolerance";
  }
  __builtin_unreachable();
}

List stage_rows(const ModelResult& result, const PageContext& context) {
  List rows;
  for (size_t i = 0; i < kStages.size(); ++i) {
    Data row;
    row.set("name", std::string(stage_name(kStages[i])));
    if (i < result.num_passed_stages) {
      row.set("result", "✅ passed");
      row.set("detail", stage_detail(kStages[i], result, context));
    } else {
      const bool failed = i == result.num_passed_stages && result.failure;
      row.set("result", failed ? "❌ failed" : "not run");
      row.set("detail", "");
    }
    rows.push_back(row);
  }
  return rows;
}

// Where the outputs differ most, in words.
List worst_elements(const ModelResult& result, const PageContext& context) {
  const VerificationReport& report = result.worst_trial()->verification;
  List lines;
  for (const OutputDetail& detail : report.output_details) {
    const TensorComparison& c = detail.comparison;
    const std::string name = code_span(detail.name);
    if (!c.mismatch.empty()) {
      lines.push_back(Data(fmt::format("{}: {}.", name, escape_markdown(c.mismatch))));
    } else if (!c.worst_actual.empty() && !context.portable) {
      lines.push_back(
          Data(fmt::format("Worst element of {}: at `[{}]` the graph gives `{}`, {} `{}`.", name,
                           fmt::join(c.worst_index, ", "), c.worst_actual,
                           reference_of(result).worst, c.worst_expected)));
    }
  }
  return lines;
}

void set_comparison(Data& row, const TensorComparison& c, const PageContext& context) {
  row.set("elements", with_thousands_separators(c.num_elements));
  row.set("max_diff", difference_text(c.max_diff, context));
  row.set("mean_diff", difference_text(c.mean_diff, context));
  row.set("mismatched", count_text(c.num_mismatched, c.max_diff, context));
  row.set("smallest", tolerance_figure(c.smallest_passing_tolerance, context));
}

Data verification_data(const ModelResult& result, const PageContext& context) {
  const VerificationReport& report = result.worst_trial()->verification;
  TensorComparison all;
  all.max_diff = report.max_diff;
  all.mean_diff = report.mean_diff;
  List rows;
  for (const OutputDetail& detail : report.output_details) {
    Data row;
    row.set("index", std::to_string(detail.index));
    row.set("name", code_cell(detail.name));
    set_comparison(row, detail.comparison, context);
    rows.push_back(row);
    all.num_elements += detail.comparison.num_elements;
    all.num_mismatched += detail.comparison.num_mismatched;
    all.smallest_passing_tolerance =
        std::max(all.smallest_passing_tolerance, detail.comparison.smallest_passing_tolerance);
  }
  Data data;
  set_comparison(data, all, context);
  data.set("outputs", rows);
  data.set("several_outputs", rows.size() > 1);
  data.set("worst", worst_elements(result, context));
  data.set("explanation", reference_of(result).explanation);
  data.set("rtol", number_text(report.tolerance.fixed.rtol));
  data.set("atol", number_text(report.tolerance.fixed.atol));
  return data;
}

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

Data graph_data(const std::string& name, const IR& ir) {
  const IRSummary summary = summarize(ir);
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
  data.set("file", "ir/" + name + ".json");
  data.set("flowchart", code_block(ir_to_mermaid(ir, kReportMermaidOptions), "mermaid"));
  data.set("pie", code_block(generate_op_distribution_pie(ir), "mermaid"));
  data.set("node_rows", node_rows(ir));
  data.set("has_weights", !ir.weights.empty());
  data.set("weight_rows", weight_rows(ir));
  return data;
}

// A run of this model alone.
Coverage coverage_of(const ModelResult& result) {
  if (!result.origin) return {.selection = {.models = {result.name}}};
  const Origin& origin = *result.origin;
  return {
      .archives = {{.path = origin.archive, .inputs = origin.inputs, .expected = origin.expected}}};
}

std::string replay_command(const std::string& name, const RunSettings& settings) {
  const RunSettings defaults;
  std::string command = fmt::format(
      "torch-ir verify ir/{0}.json --weights tensors/{0}.weights.safetensors \\\n"
      "    --inputs tensors/{0}.inputs.safetensors --expected tensors/{0}.expected.safetensors \\\n"
      "    --rtol {1} --atol {2}",
      name, settings.tolerance.fixed.rtol, settings.tolerance.fixed.atol);
  if (settings.optimization != defaults.optimization) {
    command += " --optimization " + optimization_name(settings.optimization);
  }
  if (settings.device != defaults.device) command += " --device " + settings.device.str();
  return command + "\n";
}

}  // namespace

std::string render_model_page(const ModelResult& result, const PageContext& context) {
  Data page;
  page.set("name", escape_markdown(result.name));
  page.set("verdict", verdict(result, context));
  if (result.failure) page.set("failure", failure_data(*result.failure));
  const std::string about = description(result);
  page.set("has_description", !about.empty());
  page.set("description", about);
  page.set("categories", code_list(result.categories, ", "));
  page.set("stages", stage_rows(result, context));
  if (result.worst_trial() != nullptr) {
    page.set("verification", verification_data(result, context));
  }
  if (result.graph) page.set("graph", graph_data(result.name, *result.graph));
  set_environment(page, context);
  page.set("names_files", result.origin.has_value());
  page.set("command", code_block(reproduce_command(coverage_of(result), context), "sh"));
  if (context.settings.save_tensors && result.worst_trial() != nullptr) {
    page.set("replay", code_block(replay_command(result.name, context.settings), "sh"));
  }
  return render(templates::model_page, page);
}

}  // namespace torch_ir
