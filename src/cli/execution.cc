#include "torch_ir/cli/execution.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "torch_ir/base/error.h"
#include "torch_ir/base/suggestion.h"
#include "torch_ir/cli/graph_file.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/cli/tensor_files.h"
#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

StateDict load_if_given(const std::string& path) {
  return path.empty() ? StateDict() : load_weights(path);
}

// By state dict name or by placeholder, as a plan looks for them.
void check_constants(const std::string& path, const StateDict& constants, const IR& ir) {
  std::vector<std::string> known;
  for (const TensorMeta& weight : ir.weights) known.push_back(weight.name);
  for (const auto& item : ir.weight_name_mapping) {
    known.push_back(item.value());
    known.push_back(item.key());
  }
  for (const std::string& name : constants.keys()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw Error(path + ": the graph has no constant '" + name + "'" + suggest(name, known));
  }
}

// What to do about the weight that `message` misses; empty when it is about something else.
std::string missing_weight_advice(const std::string& message, const IR& ir,
                                  const ExecutionArguments& arguments) {
  for (const auto& item : ir.weight_name_mapping) {
    if (!message.starts_with("Weight/input '" + item.key() + "' not found")) continue;
    const std::string weights = arguments.weights.empty() ? "W" : arguments.weights;
    return " It is '" + item.value() + "' in the state dict; 'torch-ir validate " + arguments.file +
           " --weights " + weights + "' lists all problems.";
  }
  return {};
}

}  // namespace

void add_execution_arguments(CLI::App& parser, ExecutionArguments& arguments) {
  add_graph_argument(parser, arguments.file);
  parser
      .add_option("--weights", arguments.weights,
                  "The weights, .safetensors or .pt; not needed by a graph without weights")
      ->type_name("W");
  parser
      .add_option("--constants", arguments.constants,
                  "Constants that the graph lacks or that replace its own, by their names there")
      ->type_name("C");
  parser.add_option("--inputs", arguments.inputs, "The inputs: .safetensors, by the graph's names")
      ->required()
      ->type_name("X");
}

Execution execute_graph_file(const ExecutionArguments& arguments) {
  Execution execution;
  execution.ir = load_valid_graph(arguments.file);
  const auto inputs = read_tensor_file(arguments.inputs, execution.ir.graph_inputs, "input");
  const StateDict weights = load_if_given(arguments.weights);
  const StateDict constants = load_if_given(arguments.constants);
  check_constants(arguments.constants, constants, execution.ir);
  try {
    execution.outputs = compile(execution.ir, weights, constants).run_checked(inputs);
  } catch (const ExecutionError& error) {
    const bool has_weights = !arguments.weights.empty();
    throw ExecutionError(
        arguments.file + (has_weights ? " with " + arguments.weights : " without --weights") +
        ": " + error.what() + missing_weight_advice(error.what(), execution.ir, arguments));
  }
  return execution;
}

}  // namespace torch_ir
