// torch-ir import: converts an archive of torch.export.save to IR JSON, weights and inputs.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/text.h"
#include "torch_ir/base/work_directory.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/runtime/graph/graph_memory.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

constexpr const char* kGraphFile = "ir.json";
constexpr const char* kWeightsFile = "weights.safetensors";
constexpr const char* kInputsFile = "inputs.safetensors";

struct ImportArguments {
  std::string file;
  std::string program;
  std::string output;
};

// The example inputs by name; empty, with a warning, if they are missing or cannot be read.
std::optional<StateDict> example_inputs(const GraphFile& file, Console& console) {
  try {
    StateDict inputs;
    const std::vector<at::Tensor> tensors = file.examples->for_graph(*file.content.program);
    for (size_t i = 0; i < tensors.size(); ++i) {
      inputs.insert(file.ir.graph_inputs[i].name, tensors[i]);
    }
    return inputs;
  } catch (const Error& error) {
    console.warn(std::string(error.what()) + "; no " + kInputsFile + " is written");
    return std::nullopt;
  }
}

void check_storable_as_files(const std::string& path, const GraphFile& file) {
  try {
    check_storable(file.content);
  } catch (const WeightError& error) {
    throw Error(path + ": " + error.what() + ": run the archive itself");
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
  if (weights.size() == num_weights) {
    check_storable_as_files(arguments.file, file);
  } else {
    console.warn(fmt::format("{}: the archive has no values for {} of {} weights, which {} lacks",
                             arguments.file, num_weights - weights.size(), num_weights,
                             kWeightsFile));
  }
  move_large_constants(file.ir, weights);
  const std::string json = serialize_ir(file.ir);
  const std::filesystem::path folder = arguments.output;
  for (const char* name : {kGraphFile, kWeightsFile, kInputsFile}) {
    refuse_to_overwrite((folder / name).string(), {arguments.file});
  }
  const WorkDirectory unfinished(folder);
  write_file((unfinished.path() / kGraphFile).string(), json);
  save_weights_safetensors(weights, (unfinished.path() / kWeightsFile).string());
  const std::optional<StateDict> inputs = example_inputs(file, console);
  if (inputs) save_weights_safetensors(*inputs, (unfinished.path() / kInputsFile).string());
  // Removes the inputs of an earlier import if there are no new ones.
  move_files(unfinished.path(), folder, {kInputsFile, kWeightsFile, kGraphFile});
  console.talk() << (folder / kGraphFile).string() << ": " << file.ir << '\n'
                 << (folder / kWeightsFile).string() << ": "
                 << counted(std::ssize(weights), "tensor") << '\n';
  if (inputs) {
    console.talk() << (folder / kInputsFile).string() << ": "
                   << counted(std::ssize(*inputs), "tensor") << '\n';
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
