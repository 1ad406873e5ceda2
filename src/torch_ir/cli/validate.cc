// torch-ir validate: checks that a file is a well-formed IR, and that weights fit it.

#include <CLI/CLI.hpp>
#include <ostream>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/text.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/runtime/check_values.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

struct ValidateArguments {
  std::string file;
  std::string program;
  WeightsArguments weights;
};

int run_validate(const ValidateArguments& arguments, Console& console) {
  const std::string& file = arguments.file;
  const std::string& weights = arguments.weights.path;
  const IR ir = read_graph_file(file, arguments.program, WeightBytes::kUnread).ir;
  Resolution resolution = try_resolve(ir);
  if (!resolution.problems.empty()) {
    throw ValidationError(file +
                          " is not well formed: " + problem_list(resolution.problems, "its graph"));
  }
  if (weights.empty() && !arguments.weights.key.empty()) {
    throw Error("--weights-key needs --weights");
  }
  if (!weights.empty()) {
    Case content = Case().with(std::move(resolution.program));
    content.weights = load_weights(weights, {.weights_key = arguments.weights.key});
    const std::vector<std::string> problems = weight_problems(content);
    if (!problems.empty()) {
      throw ExecutionError(file + " with " + weights + ": " +
                           problem_list(problems, "its weights"));
    }
  }
  console.talk() << file << ": valid, " << counted(std::ssize(ir.nodes), "node") << ", "
                 << counted(std::ssize(ir.weights), "weight") << '\n';
  if (!weights.empty()) console.talk() << weights << ": fits " << file << '\n';
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
