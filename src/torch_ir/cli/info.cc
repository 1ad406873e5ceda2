// torch-ir info: what is in a graph.

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "torch_ir/analysis/summary.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/cli/graph_file.h"
#include "torch_ir/cli/options.h"

namespace torch_ir {
namespace {

struct InfoArguments {
  std::string file;
  bool json = false;
  std::string output;
};

// [1, 3, "s0"]
nlohmann::ordered_json shape_json(const TensorMeta& value) {
  nlohmann::ordered_json shape = nlohmann::ordered_json::array();
  for (size_t i = 0; i < value.shape.size(); ++i) {
    const bool is_symbolic = !value.symbolic_shape.empty() && !value.symbolic_shape[i].empty();
    if (is_symbolic) {
      shape.push_back(value.symbolic_shape[i]);
    } else {
      shape.push_back(value.shape[i]);
    }
  }
  return shape;
}

std::string to_json(const IRSummary& summary) {
  nlohmann::ordered_json json = {
      {"model_name", summary.model_name},
      {"num_nodes", summary.num_nodes},
      {"num_inputs", summary.num_inputs},
      {"num_outputs", summary.num_outputs},
      {"num_weights", summary.num_weights},
      {"total_parameters", summary.total_parameters},
      {"input_shapes", nlohmann::ordered_json::object()},
      {"output_shapes", nlohmann::ordered_json::object()},
      {"op_distribution", nlohmann::ordered_json::object()},
  };
  for (const TensorMeta& value : summary.inputs)
    json["input_shapes"][value.name] = shape_json(value);
  for (const TensorMeta& value : summary.outputs) {
    json["output_shapes"][value.name] = shape_json(value);
  }
  for (const auto& [op_type, count] : summary.op_distribution) {
    json["op_distribution"][op_type] = count;
  }
  return json.dump(2) + "\n";
}

void write_shapes(const char* title, const std::vector<TensorMeta>& values, std::ostream& out) {
  out << '\n' << title << ":\n";
  for (const TensorMeta& value : values) {
    out << "  " << printable(value.name) << ": "
        << (value.is_scalar ? shape_text(value) : shape_list_text(value)) << '\n';
  }
}

std::string to_text(const IRSummary& summary) {
  std::ostringstream out;
  out << "Model: " << printable(summary.model_name) << '\n'
      << "Nodes: " << summary.num_nodes << '\n'
      << "Inputs: " << summary.num_inputs << '\n'
      << "Outputs: " << summary.num_outputs << '\n'
      << "Weights: " << summary.num_weights << '\n'
      << "Total parameters: " << with_thousands_separators(summary.total_parameters) << '\n';
  write_shapes("Input shapes", summary.inputs, out);
  write_shapes("Output shapes", summary.outputs, out);
  out << "\nOp distribution:\n";
  for (const auto& [op_type, count] : summary.op_distribution) {
    out << "  " << printable(op_type) << ": " << count << '\n';
  }
  return out.str();
}

int run_info(const InfoArguments& arguments, Console& console) {
  refuse_to_overwrite(arguments.output, {arguments.file});
  const IRSummary summary = summarize(load_graph_file(arguments.file).ir);
  const std::string text = arguments.json ? to_json(summary) : to_text(summary);
  write_result(arguments.output, text, console);
  return kDone;
}

void declare_info(CLI::App& parser, InfoArguments& arguments) {
  add_graph_argument(parser, arguments.file);
  parser.add_flag("--json", arguments.json, "Print JSON");
  add_file_option(parser, "-o,--output", arguments.output, "Write to a file");
}

}  // namespace

Command info_command() {
  return {.name = "info",
          .summary = "Print what is in a graph: shapes, operators, parameters",
          .examples =
              "  torch-ir info model.json\n"
              "  torch-ir info model.pt2\n"
              "  torch-ir info model.json --json -o summary.json\n",
          .declare = with_arguments(declare_info, run_info)};
}

}  // namespace torch_ir
