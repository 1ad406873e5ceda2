// torch-ir info: the figures of a graph.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "torch_ir/base/file.h"
#include "torch_ir/cli/commands.h"
#include "torch_ir/cli/graph_file.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/cli/output_file.h"
#include "torch_ir/visualize/summary.h"

namespace torch_ir {
namespace {

using Shapes = std::vector<std::pair<std::string, std::vector<int64_t>>>;

struct Arguments {
  std::string file;
  bool json = false;
  std::string output;
};

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
  for (const auto& [name, shape] : summary.input_shapes) json["input_shapes"][name] = shape;
  for (const auto& [name, shape] : summary.output_shapes) json["output_shapes"][name] = shape;
  for (const auto& [op_type, count] : summary.op_distribution) {
    json["op_distribution"][op_type] = count;
  }
  return json.dump(2) + "\n";
}

// "[1, 3, 32, 32]"
std::string shape_list(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

void write_shapes(const char* title, const Shapes& shapes, std::ostream& out) {
  out << '\n' << title << ":\n";
  for (const auto& [name, shape] : shapes) {
    out << "  " << name << ": " << shape_list(shape) << '\n';
  }
}

std::string to_text(const IRSummary& summary) {
  std::ostringstream out;
  out << "Model: " << summary.model_name << '\n'
      << "Nodes: " << summary.num_nodes << '\n'
      << "Inputs: " << summary.num_inputs << '\n'
      << "Outputs: " << summary.num_outputs << '\n'
      << "Weights: " << summary.num_weights << '\n'
      << "Total parameters: " << with_thousands_separators(summary.total_parameters) << '\n';
  write_shapes("Input shapes", summary.input_shapes, out);
  write_shapes("Output shapes", summary.output_shapes, out);
  out << "\nOp distribution:\n";
  for (const auto& [op_type, count] : summary.op_distribution) {
    out << "  " << op_type << ": " << count << '\n';
  }
  return out.str();
}

int run(const Arguments& arguments, Console& console) {
  refuse_to_overwrite(arguments.output, {arguments.file});
  const IRSummary summary = summarize(load_graph_to_show(arguments.file, console));
  const std::string text = arguments.json ? to_json(summary) : to_text(summary);
  if (arguments.output.empty()) {
    console.out() << text;
  } else {
    write_file(arguments.output, text);
  }
  return kDone;
}

Command::Action declare(CLI::App& parser) {
  const auto arguments = std::make_shared<Arguments>();
  add_graph_argument(parser, arguments->file);
  parser.add_flag("--json", arguments->json, "Print JSON");
  parser.add_option("-o,--output", arguments->output, "Write to a file")->type_name("OUT");
  return [arguments](Console& console) { return run(*arguments, console); };
}

}  // namespace

Command info_command() {
  return {.name = "info",
          .summary = "Print the figures of a graph: sizes, shapes, operators",
          .examples =
              "  torch-ir info model.json\n"
              "  torch-ir info model.json --json -o summary.json\n",
          .declare = declare};
}

}  // namespace torch_ir
