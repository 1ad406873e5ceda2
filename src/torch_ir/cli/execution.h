// What the commands that run a graph have in common: its file, and what it runs with.
#pragma once

#include <c10/util/FunctionRef.h>

#include <optional>
#include <string>
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
  bool rejects_nan = false;
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

struct FoundInputs {
  // Undefined where the user's file has none.
  std::vector<at::Tensor> tensors;
  // As find_weights returns it.
  std::string source;
  // What that file has besides, a line each.
  std::vector<std::string> problems = {};
};

// The same for inputs; those of an archive are its examples.
FoundInputs find_inputs(const ExecutionArguments& arguments, const LoadedGraph& graph);

// Throws ExecutionError with a problem_list of all weights and inputs that do not fit the graph,
// and of those with NaN where the user refuses them.
void check_before_run(const ExecutionArguments& arguments, const LoadedGraph& graph,
                      const FoundInputs& inputs);

struct Execution {
  IR ir;
  std::vector<at::Tensor> outputs;
};

// Throws torch_ir::Error, naming the file that is to blame.
Execution execute_graph_file(const ExecutionArguments& arguments);

}  // namespace torch_ir
