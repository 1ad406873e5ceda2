// torch-ir info: prints a summary of a graph.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <ostream>
#include <sstream>

#include "torch_ir/analysis/cost.h"
#include "torch_ir/analysis/module_costs.h"
#include "torch_ir/analysis/summary.h"
#include "torch_ir/analysis/text_table.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/ir/json_fields.h"
#include "torch_ir/runtime/graph/symbol_binder.h"

namespace torch_ir {

TORCH_IR_FIELDS(IRSummary, model_name, num_nodes, num_inputs, num_outputs, num_weights,
                total_parameters)

namespace {

using Json = nlohmann::ordered_json;

struct InfoArguments {
  std::string file;
  std::string program;
  bool json = false;
  std::string output;
};

Json shapes_json(const std::vector<TensorMeta>& values) {
  Json shapes = Json::object();
  for (const TensorMeta& value : values) {
    Json& shape = shapes[value.name] = Json::array();
    for (size_t i = 0; i < value.shape.size(); ++i) {
      const bool is_symbolic = !value.symbolic_shape.empty() && !value.symbolic_shape[i].empty();
      shape.push_back(is_symbolic ? Json(value.symbolic_shape[i]) : Json(value.shape[i]));
    }
  }
  return shapes;
}

// The cost of a graph, with the sizes used for its symbols.
struct SizedCost {
  GraphCost cost = {};
  std::vector<ModuleCost> modules = {};
  std::map<std::string, int64_t> sizes = {};
};

// The sizes of the example inputs of the archive; none without examples.
SymbolValues example_sizes(const GraphFile& file) {
  const Program& program = *file.content.program;
  try {
    return bind_symbols(program, file.examples.value().for_graph(program));
  } catch (const std::exception&) {
    return {};
  }
}

SizedCost cost_of_file(const GraphFile& file) {
  const Program& program = *file.content.program;
  const auto is_dynamic_input = [&](ValueId input) { return is_dynamic(program[input]); };
  SymbolValues sizes;
  if (std::ranges::any_of(program.user_inputs(), is_dynamic_input)) sizes = example_sizes(file);
  SizedCost sized{.cost = cost_of(at_sizes(program, sizes)), .sizes = {sizes.begin(), sizes.end()}};
  sized.modules = costs_by_module(program, sized.cost);
  return sized;
}

Json cost_json(const SizedCost& sized) {
  Json json = {{"sizes", sized.sizes}};
  json.update(json_fields::write(sized.cost.totals));
  json["operators"] = Json::object();
  for (const OperatorCost& op : sized.cost.operators) {
    json["operators"][op.op_type] = json_fields::write(op);
  }
  json["modules"] = Json::array();
  for (const ModuleCost& module : sized.modules) {
    json["modules"].push_back({{"module", module.path},
                               {"num_nodes", module.nodes.size()},
                               {"multiply_adds", module.multiply_adds},
                               {"parameters", module.parameters}});
  }
  return json;
}

std::string to_json(const Program& program, const IRSummary& summary, const SizedCost& cost) {
  Json json = json_fields::write(summary);
  json["input_shapes"] = shapes_json(summary.inputs);
  json["output_shapes"] = shapes_json(summary.outputs);
  json["op_distribution"] = json_fields::write(summary.op_distribution);
  json["buffer_elements"] = summary.buffer_elements ? Json(*summary.buffer_elements) : Json();
  json["cost"] = cost_json(cost);
  json["guards"] = program.guards;
  json["unchecked_guards"] = SymbolBinder(program).unreadable_guards();
  return json.dump(2) + "\n";
}

void write_shapes(const char* title, const std::vector<TensorMeta>& values, std::ostream& out) {
  out << '\n' << title << ":\n";
  for (const TensorMeta& value : values) {
    out << "  " << printable(value.name) << ": "
        << (value.is_scalar ? shape_text(value) : shape_list_text(value)) << '\n';
  }
}

// A figure that was not counted is never shown as 0.
std::string known_part(int64_t value, bool is_whole) {
  if (is_whole) return with_thousands_separators(value);
  return value == 0 ? "unknown" : "at least " + with_thousands_separators(value);
}

// "131,072 bytes, conv2d"
std::string bytes_and_name(int64_t bytes, const std::string& name, bool is_whole) {
  std::string text = known_part(bytes, is_whole);
  if (is_whole || bytes != 0) text += " bytes";
  return name.empty() ? text : text + ", " + printable(name);
}

void write_totals(const SizedCost& sized, std::ostream& out) {
  const CostTotals& totals = sized.cost.totals;
  const bool knows_sizes = totals.num_unknown_sizes == 0;
  out << "\nCosts:\n";
  for (const auto& [symbol, size] : sized.sizes) {
    out << "  With " << printable(symbol) << " = " << size << ", as in the example inputs\n";
  }
  out << "  Multiply-adds: " << known_part(totals.multiply_adds, totals.not_counted.empty())
      << '\n';
  for (const NotCounted& one : totals.not_counted) {
    out << fmt::format("  Not counted: {} ({}): {}\n", printable(one.op_type),
                       counted(one.num_nodes, "node"), one.reason);
  }
  out << "  Weights: " << bytes_and_name(totals.weight_bytes, "", true) << '\n'
      << "  Inputs: " << bytes_and_name(totals.input_bytes, "", knows_sizes) << '\n'
      << "  Largest value: "
      << bytes_and_name(totals.largest_bytes, totals.largest_value, knows_sizes) << '\n'
      << "  Smallest peak: " << bytes_and_name(totals.peak_bytes, totals.peak_node, knows_sizes)
      << '\n';
  if (!knows_sizes) {
    out << "  Values of unknown size, not included: " << totals.num_unknown_sizes << '\n';
  }
}

std::string operators_table(const GraphCost& cost) {
  // The first column has no title; the others are as wide as their titles.
  TextRows rows = {
      {"  ", " nodes", "       multiply-adds", "          parameters", "    bytes of outputs"}};
  for (const OperatorCost& op : cost.operators) {
    const bool knows_bytes = op.output_bytes != 0 || cost.totals.num_unknown_sizes == 0;
    rows.push_back({"  " + printable(op.op_type), std::to_string(op.num_nodes),
                    known_part(op.multiply_adds, op.is_counted),
                    with_thousands_separators(op.parameters),
                    known_part(op.output_bytes, knows_bytes)});
  }
  return "\nCosts by operator:\n" + text_table(rows, " >>>>");
}

std::string modules_table(const std::vector<ModuleCost>& modules) {
  if (modules.empty()) return "";
  TextRows rows = {{"  ", " nodes", "       multiply-adds", "          parameters"}};
  for (const ModuleCost& module : modules) {
    rows.push_back({"  " + (module.path.empty() ? "(other nodes)" : printable(module.path)),
                    std::to_string(module.nodes.size()),
                    known_part(module.multiply_adds, module.is_counted),
                    with_thousands_separators(module.parameters)});
  }
  return "\nCosts by module; a line excludes modules that have their own lines:\n" +
         text_table(rows, " >>>");
}

std::string to_text(const Program& program, const IRSummary& summary, const SizedCost& cost) {
  std::ostringstream out;
  out << "Model: " << printable(summary.model_name) << '\n'
      << "Nodes: " << summary.num_nodes << '\n'
      << "Inputs: " << summary.num_inputs << '\n'
      << "Outputs: " << summary.num_outputs << '\n'
      << "Weights: " << summary.num_weights << '\n'
      << "Total parameters: " << with_thousands_separators(summary.total_parameters) << '\n';
  write_shapes("Input shapes", summary.inputs, out);
  write_shapes("Output shapes", summary.outputs, out);
  for (const Mutation& state : program.mutations) {
    out << "State: " << printable(program[state.placeholder].name) << " ("
        << shape_text(program[state.placeholder]) << ")\n";
  }
  out << "\nOp distribution:\n";
  for (const auto& [op_type, count] : summary.op_distribution) {
    out << "  " << printable(op_type) << ": " << count << '\n';
  }
  out << "\nBuffers among the parameters: "
      << (summary.buffer_elements ? with_thousands_separators(*summary.buffer_elements) : "unknown")
      << '\n';
  const std::vector<std::string> unchecked = SymbolBinder(program).unreadable_guards();
  if (!unchecked.empty()) out << "\nGuards that runs do not check:\n";
  for (const std::string& guard : unchecked) out << "  " << guard << '\n';
  write_totals(cost, out);
  return out.str() + operators_table(cost.cost) + modules_table(cost.modules);
}

int run_info(const InfoArguments& arguments, Console& console) {
  refuse_to_overwrite(arguments.output, {arguments.file});
  const GraphFile shown =
      load_graph_file(arguments.file, arguments.program, WeightBytes::kUnread, &console);
  const Program& program = *shown.content.program;
  const IRSummary summary = summarize(program);
  const SizedCost cost = cost_of_file(shown);
  const std::string text =
      arguments.json ? to_json(program, summary, cost) : to_text(program, summary, cost);
  write_result(arguments.output, text, console);
  return kDone;
}

void declare_info(CLI::App& parser, InfoArguments& arguments) {
  add_graph_argument(parser, arguments.file, arguments.program);
  parser.add_flag("--json", arguments.json, "Print JSON");
  add_file_option(parser, "-o,--output", arguments.output, "Write to this file");
}

}  // namespace

Command info_command() {
  return {.name = "info",
          .summary = "Print the shapes, operators, parameters and costs of a graph",
          .examples =
              "  torch-ir info model.json\n"
              "  torch-ir info model.pt2\n"
              "  torch-ir info model.json --json -o summary.json\n",
          .declare = with_arguments(declare_info, run_info)};
}

}  // namespace torch_ir
