#include "torch_ir/cli/execution.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/suggestion.h"
#include "torch_ir/cli/graph_file.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/weights/state_dict.h"
#include "torch_ir/weights/tensor_files.h"

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
    const std::string weights = arguments.weights.path.empty() ? "W" : arguments.weights.path;
    return " It is '" + item.value() + "' in the state dict; 'torch-ir validate " + arguments.file +
           " --weights " + weights + "' lists all problems.";
  }
  return {};
}

}  // namespace

void add_execution_arguments(CLI::App& parser, ExecutionArguments& arguments) {
  add_graph_argument(parser, arguments.file);
  add_weights_options(parser, arguments.weights,
                      "The weights: .safetensors, .pt, or the index of a sharded checkpoint; an "
                      "archive has its own");
  parser
      .add_option("--constants", arguments.constants,
                  "Constants that the graph lacks or that replace its own, by their names there")
      ->type_name("C");
  parser.add_option("--inputs", arguments.inputs, "The inputs: .safetensors, by the graph's names")
      ->required()
      ->type_name("X");
}

Execution execute_graph_file(const ExecutionArguments& arguments) {
  GraphFile file = load_graph_file(arguments.file);
  Execution execution{std::move(file.ir), {}};
  const std::vector<at::Tensor> inputs = read_inputs(arguments.inputs, execution.ir);
  const bool has_weights = !arguments.weights.path.empty();
  StateDict weights = load_given_weights(arguments.weights);
  if (!has_weights && file.weights) weights = *file.weights;
  const StateDict constants = load_if_given(arguments.constants);
  check_constants(arguments.constants, constants, execution.ir);
  try {
    execution.outputs = compile(execution.ir, weights, constants).run_checked(inputs);
  } catch (const ExecutionError& error) {
    const std::string what_with = has_weights                ? " with " + arguments.weights.path
                                  : file.weights.has_value() ? ""
                                                             : " without --weights";
    throw ExecutionError(arguments.file + what_with + ": " + error.what() +
                         missing_weight_advice(error.what(), execution.ir, arguments));
  }
  return execution;
}

}  // namespace torch_ir
