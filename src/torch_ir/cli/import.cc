// torch-ir import: converts an archive of torch.export.save to IR JSON, weights and inputs.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/text.h"
#include "torch_ir/base/work_directory.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

struct ImportArguments {
  std::string file;
  std::string program;
  std::string output;
};

// The example inputs; empty, with a warning, if they are missing or cannot be read.
std::vector<at::Tensor> example_inputs(const GraphFile& file, Console& console) {
  try {
    return file.examples->for_graph(*file.content.program);
  } catch (const Error& error) {
    console.warn(std::string(error.what()) + "; no " + kCaseInputs + " is written");
    return {};
  }
}

int run_import(const ImportArguments& arguments, Console& console) {
  GraphFile file = load_graph_file(arguments.file, arguments.program, WeightBytes::kChecked);
  if (!file.is_archive()) {
    throw Error(arguments.file + " is already an IR file; import reads archives (.pt2)");
  }
  StateDict weights;
  for (const auto& weight : file.content.weights) {
    if (!weight.value().is_meta()) weights.insert(weight.key(), weight.value());
  }
  const size_t num_weights = file.content.weights.size();
  if (weights.size() < num_weights) {
    console.warn(fmt::format("{}: the archive has no values for {} of {} weights, which {} lacks",
                             arguments.file, num_weights - weights.size(), num_weights,
                             kCaseWeights));
  }
  move_large_constants(file.ir, weights);
  const std::filesystem::path folder = arguments.output;
  for (const char* name : {kCaseGraph, kCaseWeights, kCaseInputs}) {
    refuse_to_overwrite((folder / name).string(), {arguments.file});
  }
  const Case stored =
      Case{.weights = weights, .inputs = example_inputs(file, console)}.with(resolve(file.ir));
  const WorkDirectory unfinished(folder);
  try {
    save_case(stored, unfinished.path().string(), WeightsFile::kAlways);
  } catch (const WeightError& error) {
    throw Error(arguments.file + ": " + error.what() + ": run the archive itself");
  }
  const bool has_inputs = std::filesystem::exists(unfinished.path() / kCaseInputs);
  // Removes the inputs of an earlier import if there are no new ones.
  move_files(unfinished.path(), folder, {kCaseInputs, kCaseWeights, kCaseGraph});
  console.talk() << (folder / kCaseGraph).string() << ": " << file.ir << '\n'
                 << (folder / kCaseWeights).string() << ": "
                 << counted(std::ssize(weights), "tensor") << '\n';
  if (has_inputs) {
    console.talk() << (folder / kCaseInputs).string() << ": "
                   << counted(std::ssize(stored.inputs), "tensor") << '\n';
  }
  return kDone;
}

void declare_import(CLI::App& parser, ImportArguments& arguments) {
  add_argument(parser, "MODEL", arguments.file, "The archive (.pt2)");
  add_program_option(parser, arguments.program);
  parser
      .add_option("-o,--output", arguments.output,
                  "Folder to write the graph, weights and example inputs to")
      ->required()
      ->type_name("DIR");
}

}  // namespace

Command import_command() {
  return {.name = "import",
          .summary = "Convert an archive of torch.export.save to IR JSON, weights and inputs",
          .examples =
              "  torch-ir import model.pt2 -o model\n"
              "  harness --ir model\n",
          .declare = with_arguments(declare_import, run_import)};
}

}  // namespace torch_ir
