// What execute and verify have in common: running the graph of a file on the inputs of another.
#ifndef TORCH_IR_CLI_EXECUTION_H_
#define TORCH_IR_CLI_EXECUTION_H_

#include <string>
#include <vector>

#include "torch_ir/cli/options.h"
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
};

struct Execution {
  IR ir;
  std::vector<at::Tensor> outputs;
};

void add_execution_arguments(CLI::App& parser, ExecutionArguments& arguments);

// Throws torch_ir::Error, naming the file that is to blame.
Execution execute_graph_file(const ExecutionArguments& arguments);

}  // namespace torch_ir

#endif  // TORCH_IR_CLI_EXECUTION_H_
