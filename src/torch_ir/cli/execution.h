// Loading and running a graph from files, for the commands that run graphs.
#pragma once

#include <c10/util/FunctionRef.h>

#include <cstdint>
#include <string>
#include <vector>

#include "torch_ir/cli/options.h"
#include "torch_ir/runtime/graph/execution_options.h"

namespace CLI {
class App;
}

namespace torch_ir {

// A graph with all that a run needs, and where it comes from.
struct RunnableGraph : GraphFile {
  // "file", "archive" (inputs are its examples), "made up", or "none".
  std::string weights_source = "none";
  std::string inputs_source = "none";
};

struct ExecutionArguments {
  std::string file;
  std::string program;
  WeightsArguments weights;
  std::string constants;
  std::string inputs;
  bool rejects_nan = false;
  // Whether to generate missing weights and inputs.
  bool makes_up_values = false;
  uint64_t seed = 0;
  ExecutionOptions options;
};

// Adds all options but --inputs and --seed.
void add_execution_arguments(CLI::App& parser, ExecutionArguments& arguments);
void add_seed_option(CLI::App& parser, ExecutionArguments& arguments);

// Loads the files that `arguments` name and calls `run`. Throws torch_ir::Error, naming the files:
// before the run, one problem_list of all weights and inputs that do not fit the graph or contain
// rejected NaN; or an ExecutionError of the run. Warns of guards that runs do not check.
void run_graph_file(const ExecutionArguments& arguments, Console& console,
                    c10::function_ref<void(const RunnableGraph&)> run);

// Generates one tensor for each graph input: the values that the harness would use for a model of
// that name (weights/seeded_tensor.h), but 0 for integers, since 0 is a valid index. Throws Error,
// with the graph's path, for numbers, for dynamic sizes, and if the tensors exceed the memory of a
// small machine.
std::vector<at::Tensor> random_inputs(const std::string& path, const Program& program);

// Generates every weight that the case lacks. Throws Error, with the graph's path, if they exceed
// the memory of a small machine.
StateDict random_weights(const std::string& path, const Case& graph_case);

}  // namespace torch_ir
