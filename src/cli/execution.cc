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

// Without --weights the plan would name the first weight that is missing, not what to do.
void require_weights(const ExecutionArguments& arguments, const IR& ir,
                     const StateDict& constants) {
  for (const TensorMeta& weight : ir.weights) {
    if (ir.constants.contains(weight.name) || constants.contains(weight.name)) continue;
    throw ExecutionError(arguments.file + " needs a value for the weight '" + weight.name +
                         "': give --weights");
  }
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
  parser
      .add_option("--inputs", arguments.inputs, "The inputs: .safetensors, by the graph's names")
      ->required()
      ->type_name("X");
}

Execution execute_graph_file(const ExecutionArguments& arguments) {
  Execution execution;
  execution.ir = load_valid_graph(arguments.file);
  const IR& ir = execution.ir;
  const StateDict constants = load_if_given(arguments.constants);
  if (arguments.weights.empty()) require_weights(arguments, ir, constants);
  const auto inputs = read_tensor_file(arguments.inputs, ir.graph_inputs, "input");
  const ExecutionPlan plan = compile(ir, load_if_given(arguments.weights), constants);
  execution.outputs = plan.run(inputs);
  return execution;
}

}  // namespace torch_ir
