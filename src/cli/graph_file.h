// Reading the FILE of a command.
#ifndef TORCH_IR_CLI_GRAPH_FILE_H_
#define TORCH_IR_CLI_GRAPH_FILE_H_

#include <string>

#include "torch_ir/cli/command.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// For commands that run the graph. Throws ValidationError for an IR that is not well formed, with
// its first problem.
IR load_valid_graph(const std::string& path);

// For commands that show the graph: also one that is not well formed, with a warning.
IR load_graph_to_show(const std::string& path, Console& console);

}  // namespace torch_ir

#endif  // TORCH_IR_CLI_GRAPH_FILE_H_
