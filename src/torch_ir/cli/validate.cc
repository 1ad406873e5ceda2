// torch-ir validate: checks that a file is a well-formed IR, and that weights fit it.

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <utility>

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
  std::string program;
  WeightsArguments weights;
};

std::shared_ptr<const Program> resolved(const std::string& path, const IR& ir) {
  Resolution resolution = try_resolve(ir);
  if (!resolution.problems.empty()) {
    throw ValidationError(path +
                          " is not well formed: " + problem_list(resolution.problems, "its graph"));
  }
  return std::make_shared<const Program>(std::move(resolution.program));
}

int run_validate(const ValidateArguments& arguments, Console& console) {
  const std::string& file = arguments.file;
  const std::string& weights_path = arguments.weights.path;
  const IR ir = read_graph_file(file, arguments.program, WeightBytes::kUnread).ir;
  const Case content{.program = resolved(file, ir),
                     .weights = load_given_weights(arguments.weights)};
  if (!weights_path.empty()) {
    const std::vector<std::string> problems = weight_problems(content);
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
  add_graph_argument(parser, arguments.file, arguments.program);
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
