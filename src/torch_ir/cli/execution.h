// What the commands that run a graph have in common: its file, and what it runs with.
#pragma once

#include <c10/util/FunctionRef.h>

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
  // Whether weights and inputs are made up where nobody gives any.
  bool makes_up_values = false;
  ExecutionOptions options;
};

// All but `inputs`, which differ.
void add_execution_arguments(CLI::App& parser, ExecutionArguments& arguments);
// --inputs, required.
void add_inputs_option(CLI::App& parser, ExecutionArguments& arguments);

// A graph with all that it runs with.
struct LoadedGraph {
  IR ir;
  // As in GraphFile.
  NodeOrigins origins = {};
  StateDict weights = StateDict();
  StateDict constants = StateDict();
  std::vector<at::Tensor> inputs = {};
  // Where these come from: "file", "archive" (inputs are its examples), "made up", or "none".
  std::string weights_source = "none";
  std::string inputs_source = "none";
};

// Loads what `arguments` name and calls `run` with it. Throws torch_ir::Error, naming the files
// that are to blame: for all weights and inputs that do not fit the graph, and those with NaN where
// the user refuses them, in one problem_list before the run; and for an ExecutionError of the run.
void run_graph_file(const ExecutionArguments& arguments,
                    c10::function_ref<void(const LoadedGraph&)> run);

// Values for a graph that comes without: those of the harness for a model of the graph's name
// (weights/seeded_tensor.h), with which activations neither vanish nor explode. Whole numbers are
// 0, which is an index into anything.
//
// One tensor for each graph input. Throws Error, with the graph's path, for inputs whose sizes or
// values only a user can choose, and for more than fits a small machine's memory.
std::vector<at::Tensor> random_inputs(const std::string& path, const IR& ir);

// Every weight that is not in `constants` and has no value in the graph. Throws Error, with the
// graph's path, for more than fits a small machine's memory.
StateDict random_weights(const std::string& path, const IR& ir, const StateDict& constants);

struct Execution {
  IR ir;
  std::vector<at::Tensor> outputs;
};

// Runs the graph once, as run_graph_file.
Execution execute_graph_file(const ExecutionArguments& arguments);

}  // namespace torch_ir
