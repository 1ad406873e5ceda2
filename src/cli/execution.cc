#include "torch_ir/cli/execution.h"

#include <CLI/CLI.hpp>

#include "torch_ir/base/error.h"
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
  try {
    execution.outputs = compile(execution.ir, weights, constants).run(inputs);
  } catch (const ExecutionError& error) {
    const bool has_weights = !arguments.weights.empty();
    throw ExecutionError(arguments.file +
                         (has_weights ? " with " + arguments.weights : " without --weights") +
                         ": " + error.what());
  }
  return execution;
}

}  // namespace torch_ir
