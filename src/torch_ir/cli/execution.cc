#include "torch_ir/cli/execution.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <set>

#include "torch_ir/base/error.h"
#include "torch_ir/base/options.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/suggestion.h"
#include "torch_ir/base/text.h"
#include "torch_ir/runtime/check_values.h"
#include "torch_ir/runtime/device.h"
#include "torch_ir/runtime/graph/symbol_binder.h"
#include "torch_ir/verifier/statistics.h"
#include "torch_ir/weights/state_dict.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

// Accepts state dict names and placeholders, as a plan does.
void check_constants(const std::string& path, const StateDict& constants, const Program& program) {
  std::vector<std::string> known;
  for (const GraphInput& input : program.inputs) {
    if (input.kind == InputKind::kUserInput) continue;
    known.push_back(input.target);
    known.push_back(program[input.value].name);
  }
  std::vector<std::string> problems;
  for (const std::string& name : constants.keys()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    problems.push_back("the graph has no constant '" + printable(name) + "'" +
                       printable(suggest(name, known)));
  }
  if (!problems.empty()) throw Error(path + ": " + problem_list(problems, "the constants"));
}

void add_nan_problem(const std::string& kind, const std::string& name, const at::Tensor& tensor,
                     std::vector<std::string>& problems) {
  const int64_t count = count_nan(tensor);
  if (count == 0) return;
  problems.push_back(kind + " '" + printable(name) + "' has " + std::to_string(count) +
                     " NaN among " + std::to_string(tensor.numel()) + " elements.");
}

void add_nan_problems(const Case& content, std::vector<std::string>& problems) {
  const Program& program = *content.program;
  std::set<std::string> checked;
  for (const GraphInput& input : program.inputs) {
    if (input.kind == InputKind::kUserInput || !checked.insert(input.target).second) continue;
    const at::Tensor* weight = find_weight(content, input);
    if (weight != nullptr) add_nan_problem("Weight", input.target, *weight, problems);
  }
  const std::vector<ValueId> ids = program.user_inputs();
  for (size_t i = 0; i < content.inputs.size(); ++i) {
    add_nan_problem("Input", program[ids[i]].name, content.inputs[i], problems);
  }
}

// Tensors in the file of inputs that are not inputs are added to `problems`.
RunnableGraph load_graph(const ExecutionArguments& arguments, std::vector<std::string>& problems) {
  const std::string& weights = arguments.weights.path;
  RunnableGraph file{
      load_graph_file(arguments.file, arguments.program,
                      weights.empty() ? WeightBytes::kChecked : WeightBytes::kUnread)};
  Case& content = file.content;
  content.weights = weights_for(file, weights, {.weights_key = arguments.weights.key});
  if (!weights.empty() || file.is_archive()) {
    file.weights_source = weights.empty() ? "archive" : "file";
  }
  if (!arguments.constants.empty()) {
    content.constants = load_weights(arguments.constants);
    check_constants(arguments.constants, content.constants, *content.program);
  }
  if (arguments.makes_up_values && file.weights_source == "none" && !file.ir.weights.empty()) {
    content.weights = random_weights(arguments.file, content);
    file.weights_source = "made up";
  }
  if (!arguments.inputs.empty()) {
    content.inputs = inputs_in(load_weights(arguments.inputs), file.ir, problems);
    file.inputs_source = "file";
    for (std::string& problem : problems) problem.insert(0, arguments.inputs + ": ");
  } else {
    content.inputs = file.is_archive() ? file.examples->for_graph(*content.program)
                                       : random_inputs(arguments.file, *content.program);
    file.inputs_source = file.is_archive() ? "archive" : "made up";
  }
  return file;
}

void refuse_problems(const ExecutionArguments& arguments, const Case& content,
                     const std::vector<std::string>& problems_of_file) {
  std::vector<std::string> problems = value_problems(content);
  std::ranges::copy(problems_of_file, std::back_inserter(problems));
  if (arguments.rejects_nan) add_nan_problems(content, problems);
  if (!problems.empty()) throw ExecutionError(problem_list(problems, "its weights and inputs"));
}

}  // namespace

void add_execution_arguments(CLI::App& parser, ExecutionArguments& arguments) {
  add_graph_argument(parser, arguments.file, arguments.program);
  add_weights_options(parser, arguments.weights,
                      "Weights: .safetensors, .pt or a shard index (default: the archive's)");
  add_file_option(parser, "--constants", arguments.constants,
                  "Constants to add or replace, by name: .safetensors, .pt");
  parser.add_flag("--reject-nan", arguments.rejects_nan,
                  "Refuse weights and inputs that contain NaN");
  ExecutionOptions& options = arguments.options;
  add_parsed_option(
      parser, "--optimization",
      [&options](const std::string& name) { options.optimization = choose_optimization(name); },
      "exact (default): bit-identical to eager; fast: reorders arithmetic")
      ->type_name("LEVEL");
  add_parsed_option(
      parser, "--device",
      [&options](const std::string& name) { options.device = parse_device(name); },
      "Run on this device: cpu (default), cuda, cuda:1")
      ->type_name("DEVICE");
}

void add_seed_option(CLI::App& parser, ExecutionArguments& arguments) {
  parser.add_option("--seed", arguments.seed, "Seed of operators that draw random numbers")
      ->type_name("N")
      ->transform(number<uint64_t>("seed", 0, UINT64_MAX, false, "a whole number"))
      ->capture_default_str();
}

void run_graph_file(const ExecutionArguments& arguments, Console& console,
                    c10::function_ref<void(const RunnableGraph&)> run) {
  std::vector<std::string> problems;
  const RunnableGraph file = load_graph(arguments, problems);
  const std::string unchecked = SymbolBinder(*file.content.program).unchecked_text();
  if (!unchecked.empty()) console.warn(unchecked, /*is_about_checks=*/true);
  try {
    refuse_problems(arguments, file.content, problems);
    run(file);
  } catch (const ExecutionError& error) {
    const std::string& weights = arguments.weights.path;
    const std::string tensors = !weights.empty()                ? " with " + weights
                                : file.weights_source == "none" ? " without --weights"
                                                                : "";
    throw ExecutionError(arguments.file + tensors + ": " + error.what());
  }
}

}  // namespace torch_ir
