// torch-ir validate: is a file a well-formed IR, and do weights fit it?

#include "torch_ir/ir/validate.h"

#include <CLI/CLI.hpp>
#include <ostream>

#include "torch_ir/base/error.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/cli/graph_file.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

struct ValidateArguments {
  std::string file;
  WeightsArguments weights;
};

std::string count_text(size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// Prints the problems, and throws when there are any.
void report(const std::vector<std::string>& problems, const std::string& verdict,
            Console& console) {
  if (problems.empty()) return;
  for (const std::string& problem : problems) console.talk() << problem << '\n';
  throw ValidationError(verdict + ": " + count_text(problems.size(), "problem") +
                        (problems.size() > 1 ? ", the first: " : ": ") + problems.front());
}

int run_validate(const ValidateArguments& arguments, Console& console) {
  const IR ir = read_graph_file(arguments.file).ir;
  report(find_problems(ir), arguments.file + " is not well formed", console);
  const std::string& weights_path = arguments.weights.path;
  const StateDict weights = load_given_weights(arguments.weights);
  const bool has_weights = !weights_path.empty();
  if (has_weights) {
    report(validate_weights_against_ir(weights, ir),
           weights_path + " does not fit " + arguments.file, console);
  }
  console.talk() << arguments.file << ": valid, " << count_text(ir.nodes.size(), "node") << ", "
                 << count_text(ir.weights.size(), "weight") << '\n';
  if (has_weights) console.talk() << weights_path << ": fits " << arguments.file << '\n';
  return kDone;
}

void declare_validate(CLI::App& parser, ValidateArguments& arguments) {
  add_graph_argument(parser, arguments.file);
  add_weights_options(parser, arguments.weights,
                      "Weights that must fit the graph: .safetensors, .pt");
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
