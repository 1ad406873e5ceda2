#include "torch_ir/cli/execution.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/problem_list.h"
#include "torch_ir/base/suggestion.h"
#include "torch_ir/cli/graph_file.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/cli/random_values.h"
#include "torch_ir/executor/check_values.h"
#include "torch_ir/executor/device.h"
#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/exporter/pt2/pt2.h"
#include "torch_ir/verifier/statistics.h"
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
  std::vector<std::string> problems;
  for (const std::string& name : constants.keys()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    problems.push_back("the graph has no constant '" + printable(name) + "'" +
                       printable(suggest(name, known)));
  }
  if (!problems.empty()) throw Error(path + ": " + problem_list(problems, "the constants"));
}

void add_nan_problem(const std::string& what, const std::string& name, const at::Tensor& tensor,
                     std::vector<std::string>& problems) {
  const int64_t count = count_nan(tensor);
  if (count == 0) return;
  problems.push_back(what + " '" + printable(name) + "' has " + std::to_string(count) +
                     " NaN among " + std::to_string(tensor.numel()) + " elements.");
}

std::vector<std::string> nan_problems(const LoadedGraph& graph,
                                      const std::vector<at::Tensor>& inputs) {
  std::vector<std::string> problems;
  const StateDict& weights = graph.weights ? *graph.weights : graph.constants;
  std::set<std::string> seen;
  // As a plan looks for a weight: by either name, in these one after the other.
  const auto add = [&](const std::string& placeholder, const std::string& name) {
    if (!seen.insert(name).second) return;
    for (const StateDict* tensors : {&weights, &graph.constants, &graph.ir.constants}) {
      const at::Tensor* tensor = tensors->find(name);
      if (tensor == nullptr) tensor = tensors->find(placeholder);
      if (tensor == nullptr) continue;
      add_nan_problem("Weight", name, *tensor, problems);
      return;
    }
  };
  for (const auto& item : graph.ir.weight_name_mapping) add(item.key(), item.value());
  for (const TensorMeta& weight : graph.ir.weights) add(weight.name, weight.name);
  for (size_t i = 0; i < inputs.size(); ++i) {
    add_nan_problem("Input", graph.ir.graph_inputs[i].name, inputs[i], problems);
  }
  return problems;
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
  parser.add_flag("--reject-nan", arguments.rejects_nan,
                  "Refuse weights and inputs with NaN, and say how many each of them has");
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
    throw ExecutionError(arguments.file + what_with + ": " + error.what());
  }
}

std::string find_weights(const ExecutionArguments& arguments, LoadedGraph& graph) {
  if (!arguments.weights.path.empty()) return "file";
  if (graph.weights) return "archive";
  if (graph.ir.weights.empty()) return "none";
  graph.weights = random_weights(arguments.file, graph.ir, graph.constants);
  return "made up";
}

FoundInputs find_inputs(const ExecutionArguments& arguments, const LoadedGraph& graph) {
  if (!arguments.inputs.empty()) {
    FoundInputs found{.tensors = {}, .source = "file"};
    found.tensors = read_inputs(arguments.inputs, graph.ir, found.problems);
    for (std::string& problem : found.problems) problem.insert(0, arguments.inputs + ": ");
    return found;
  }
  if (graph.is_archive) return {example_graph_inputs(arguments.file, graph.ir), "archive"};
  return {random_inputs(arguments.file, graph.ir), "made up"};
}

void check_before_run(const ExecutionArguments& arguments, const LoadedGraph& graph,
                      const FoundInputs& inputs) {
  std::vector<std::string> problems = value_problems(graph.ir, graph.weights.value_or(StateDict()),
                                                     inputs.tensors, graph.constants);
  std::ranges::copy(inputs.problems, std::back_inserter(problems));
  if (arguments.rejects_nan) {
    std::ranges::move(nan_problems(graph, inputs.tensors), std::back_inserter(problems));
  }
  if (!problems.empty()) throw ExecutionError(problem_list(problems, "its weights and inputs"));
}

Execution execute_graph_file(const ExecutionArguments& arguments) {
  LoadedGraph graph = load_graph(arguments);
  const FoundInputs inputs = find_inputs(arguments, graph);
  std::vector<at::Tensor> outputs;
  name_files_in_errors(arguments, graph, [&] {
    check_before_run(arguments, graph, inputs);
    const StateDict weights = graph.weights.value_or(StateDict());
    outputs = compile(graph.ir, weights, graph.constants, arguments.options)
                  .run_checked(to_device(inputs.tensors, arguments.options.device));
  });
  return {std::move(graph.ir), std::move(outputs)};
}

}  // namespace torch_ir
