// torch-ir validate: checks that a file is a well-formed IR, and that weights fit it.

#include <CLI/CLI.hpp>
#include <ostream>

#include "torch_ir/base/error.h"
#include "torch_ir/base/problem_list.h"
#include "torch_ir/base/text.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/runtime/check_values.h"

namespace torch_ir {
namespace {

struct ValidateArguments {
  std::string file;
  WeightsArguments weights;
};

void check_graph(const std::string& path, const IR& ir) {
  const std::vector<std::string> problems = find_problems(ir);
  if (problems.empty()) return;
  throw ValidationError(path + " is not well formed: " + problem_list(problems, "its graph"));
}

int run_validate(const ValidateArguments& arguments, Console& console) {
  const std::string& file = arguments.file;
  const std::string& weights_path = arguments.weights.path;
  const IR ir = read_graph_file(file).ir;
  check_graph(file, ir);
  const StateDict weights = load_given_weights(arguments.weights);
  if (!weights_path.empty()) {
    const std::vector<std::string> problems = weight_problems(ir, weights);
    if (!problems.empty()) {
      throw ExecutionError(file + " with " + weights_path + ": " +
                           problem_list(problems, "its weights"));
    }
  }
  console.talk() << file << ": valid, " << counted(std::ssize(ir.nodes), "node") << ", "
                 << counted(std::ssize(ir.weights), "weight") << '\n';
  if (!weights_path.empty()) console.talk() << weights_path << ": fits " << file << '\n';
  return kDone;
}

void declare_validate(CLI::App& parser, ValidateArguments& arguments) {
  add_graph_argument(parser, arguments.file);
  add_weights_options(parser, arguments.weights,
                      "Check that these weights fit the graph: .safetensors, .pt");
}

}  // namespace

Command validate_command() {
  return {.name = "validate",
          .summary = "Check that a graph is well formed, and that weights fit it",
          .examples =
              "  torch-ir validate model.json\n"
              "  torch-ir validate model.json --weights weights.safetensors\n",
          .declare = with_arguments(declare_validate, run_validate)};
}

}  // namespace torch_ir
