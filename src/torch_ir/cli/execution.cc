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
#include "torch_ir/cli/options.h"
#include "torch_ir/exporter/pt2/pt2.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/runtime/check_values.h"
#include "torch_ir/runtime/graph/bind_weights.h"
#include "torch_ir/verifier/statistics.h"
#include "torch_ir/weights/state_dict.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

// Accepts state dict names and placeholders, as a plan does.
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
  const int64_t count = count_non_finite(tensor).num_nan;
  if (count == 0) return;
  problems.push_back(what + " '" + printable(name) + "' has " + std::to_string(count) +
                     " NaN among " + std::to_string(tensor.numel()) + " elements.");
}

void add_nan_problems(const LoadedGraph& graph, std::vector<std::string>& problems) {
  std::vector<std::string> ignored;
  const std::vector<at::Tensor> weights =
      bind_weights(*graph.program, graph.weights, graph.constants, std::nullopt, ignored).tensors;
  std::set<std::string> checked;
  for (const GraphInput& input : graph.program->inputs) {
    const at::Tensor& weight = weights[input.value];
    if (!weight.defined() || !checked.insert(input.target).second) continue;
    add_nan_problem("Weight", input.target, weight, problems);
  }
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    add_nan_problem("Input", graph.ir.graph_inputs[i].name, graph.inputs[i], problems);
  }
}

// Tensors in the file of inputs that are not inputs are added to `problems`.
LoadedGraph load_graph(const ExecutionArguments& arguments, std::vector<std::string>& problems) {
  GraphFile file = load_graph_file(arguments.file);
  LoadedGraph graph{.program = std::make_shared<const Program>(resolve(file.ir)),
                    .ir = std::move(file.ir),
                    .source_lines = std::move(file.source_lines)};
  const IR& ir = graph.ir;
  const bool is_archive = file.weights.has_value();
  StateDict given = load_given_weights(arguments.weights);
  if (!arguments.weights.path.empty()) {
    graph.weights = std::move(given);
    graph.weights_source = "file";
  } else if (is_archive) {
    graph.weights = std::move(*file.weights);
    graph.weights_source = "archive";
  }
  if (!arguments.constants.empty()) {
    graph.constants = load_weights(arguments.constants);
    check_constants(arguments.constants, graph.constants, ir);
  }
  if (arguments.makes_up_values && graph.weights_source == "none" && !ir.weights.empty()) {
    graph.weights = random_weights(arguments.file, ir, graph.constants);
    graph.weights_source = "made up";
  }
  if (!arguments.inputs.empty()) {
    graph.inputs = read_inputs(arguments.inputs, ir, problems);
    graph.inputs_source = "file";
    for (std::string& problem : problems) problem.insert(0, arguments.inputs + ": ");
  } else {
    graph.inputs =
        is_archive ? example_graph_inputs(arguments.file, ir) : random_inputs(arguments.file, ir);
    graph.inputs_source = is_archive ? "archive" : "made up";
  }
  return graph;
}

void refuse_problems(const ExecutionArguments& arguments, const LoadedGraph& graph,
                     const std::vector<std::string>& problems_of_file) {
  std::vector<std::string> problems =
      value_problems(*graph.program, graph.weights, graph.inputs, graph.constants);
  std::ranges::copy(problems_of_file, std::back_inserter(problems));
  if (arguments.rejects_nan) add_nan_problems(graph, problems);
  if (!problems.empty()) throw ExecutionError(problem_list(problems, "its weights and inputs"));
}

}  // namespace

void add_execution_arguments(CLI::App& parser, ExecutionArguments& arguments) {
  add_graph_argument(parser, arguments.file);
  add_weights_options(parser, arguments.weights,
                      "Weights: .safetensors, .pt or a shard index (default: the archive's)");
  add_file_option(parser, "--constants", arguments.constants,
                  "Constants to add or replace, by name: .safetensors, .pt");
  parser.add_flag("--reject-nan", arguments.rejects_nan,
                  "Refuse weights and inputs that contain NaN");
  add_execution_options(parser, arguments.options);
}

void add_inputs_option(CLI::App& parser, ExecutionArguments& arguments) {
  add_file_option(parser, "--inputs", arguments.inputs,
                  "Inputs, by the graph's names: .safetensors")
      ->required();
}

void run_graph_file(const ExecutionArguments& arguments,
                    c10::function_ref<void(const LoadedGraph&)> run) {
  std::vector<std::string> problems;
  const LoadedGraph graph = load_graph(arguments, problems);
  try {
    refuse_problems(arguments, graph, problems);
    run(graph);
  } catch (const ExecutionError& error) {
    const std::string& weights = arguments.weights.path;
    const std::string what_with = !weights.empty()                 ? " with " + weights
                                  : graph.weights_source == "none" ? " without --weights"
                                                                   : "";
    throw ExecutionError(arguments.file + what_with + ": " + error.what());
  }
}

}  // namespace torch_ir
