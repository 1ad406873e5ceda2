#include "torch_ir/cli/execution.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/suggestion.h"
#include "torch_ir/cli/graph_file.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/cli/random_values.h"
#include "torch_ir/executor/device.h"
#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/exporter/pt2/pt2.h"
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
  add_file_option(
      parser, "--constants", arguments.constants,
      "Constants that the graph lacks, or others than its own, by name: .safetensors, .pt");
  add_execution_options(parser, arguments.options);
}

void add_inputs_option(CLI::App& parser, ExecutionArguments& arguments) {
  add_file_option(parser, "--inputs", arguments.inputs,
                  "The inputs: .safetensors, by the graph's names")
      ->required();
}

LoadedGraph load_graph(const ExecutionArguments& arguments) {
  GraphFile file = load_graph_file(arguments.file);
  const bool has_weights = !arguments.weights.path.empty() || !arguments.weights.key.empty();
  const bool is_archive = file.weights.has_value();
  std::optional<StateDict> weights = std::move(file.weights);
  if (has_weights) weights = load_given_weights(arguments.weights);
  LoadedGraph graph{.ir = std::move(file.ir),
                    .is_archive = is_archive,
                    .weights = std::move(weights),
                    .constants = load_if_given(arguments.constants),
                    .origins = std::move(file.origins)};
  check_constants(arguments.constants, graph.constants, graph.ir);
  return graph;
}

void name_files_in_errors(const ExecutionArguments& arguments, const LoadedGraph& graph,
                          c10::function_ref<void()> run) {
  try {
    run();
  } catch (const ExecutionError& error) {
    const std::string what_with = !arguments.weights.path.empty()
                                      ? " with " + arguments.weights.path
                                  : graph.weights.has_value() ? ""
                                                              : " without --weights";
    throw ExecutionError(arguments.file + what_with + ": " + error.what() +
                         missing_weight_advice(error.what(), graph.ir, arguments));
  }
}

std::string find_weights(const ExecutionArguments& arguments, LoadedGraph& graph) {
  if (!arguments.weights.path.empty()) return "file";
  if (graph.weights) return "archive";
  if (graph.ir.weights.empty()) return "none";
  graph.weights = random_weights(arguments.file, graph.ir, graph.constants);
  return "made up";
}

std::pair<std::vector<at::Tensor>, std::string> find_inputs(const ExecutionArguments& arguments,
                                                            const LoadedGraph& graph) {
  if (!arguments.inputs.empty()) return {read_inputs(arguments.inputs, graph.ir), "file"};
  if (graph.is_archive) return {example_graph_inputs(arguments.file, graph.ir), "archive"};
  return {random_inputs(arguments.file, graph.ir), "made up"};
}

Execution execute_graph_file(const ExecutionArguments& arguments) {
  LoadedGraph graph = load_graph(arguments);
  const std::vector<at::Tensor> inputs =
      to_device(read_inputs(arguments.inputs, graph.ir), arguments.options.device);
  std::vector<at::Tensor> outputs;
  name_files_in_errors(arguments, graph, [&] {
    const StateDict weights = graph.weights.value_or(StateDict());
    outputs = compile(graph.ir, weights, graph.constants, arguments.options).run_checked(inputs);
  });
  return {std::move(graph.ir), std::move(outputs)};
}

}  // namespace torch_ir
