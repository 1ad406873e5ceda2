// What the commands that run a graph have in common: its file, and what it runs with.
#pragma once

#include <c10/util/FunctionRef.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/cli/options.h"
#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/ir/ir.h"

namespace CLI {
class App;
}

namespace torch_ir {

struct ExecutionArguments {
  std::string file;
  WeightsArguments weights;
  std::string constants;
  std::string inputs;
  ExecutionOptions options;
};

// All but `inputs`, which differ.
void add_execution_arguments(CLI::App& parser, ExecutionArguments& arguments);
// --inputs, required.
void add_inputs_option(CLI::App& parser, ExecutionArguments& arguments);

struct LoadedGraph {
  IR ir;
  // Of torch.export.save; otherwise an IR file.
  bool is_archive = false;
  // Those of --weights, else of the archive; nothing where there is neither.
  std::optional<StateDict> weights;
  StateDict constants;
  // As in GraphFile.
  NodeOrigins origins = {};
};

// Throws torch_ir::Error, naming the file that is to blame.
LoadedGraph load_graph(const ExecutionArguments& arguments);

// Calls `run`, which compiles or runs `graph`. An ExecutionError of it names the files that are to
// blame, and what to do.
void name_files_in_errors(const ExecutionArguments& arguments, const LoadedGraph& graph,
                          c10::function_ref<void()> run);

// Gives `graph` weights where it has none: those of the user, else the archive's, else made up
// (random_values.h). Returns which: "file", "archive", "none" where it needs none, "made up".
std::string find_weights(const ExecutionArguments& arguments, LoadedGraph& graph);

// The same for inputs; those of an archive are its examples.
std::pair<std::vector<at::Tensor>, std::string> find_inputs(const ExecutionArguments& arguments,
                                                            const LoadedGraph& graph);

struct Execution {
  IR ir;
  std::vector<at::Tensor> outputs;
};

// Throws torch_ir::Error, naming the file that is to blame.
Execution execute_graph_file(const ExecutionArguments& arguments);

}  // namespace torch_ir
