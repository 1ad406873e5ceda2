// Arguments that several commands have.
#ifndef TORCH_IR_CLI_OPTIONS_H_
#define TORCH_IR_CLI_OPTIONS_H_

#include <string>

#include "torch_ir/verifier/compare.h"

namespace CLI {
class App;
}

namespace torch_ir {

// FILE, required.
void add_graph_argument(CLI::App& parser, std::string& path);
// --rtol and --atol, with their values in `tolerance` as defaults.
void add_tolerance_options(CLI::App& parser, Tolerance& tolerance);

}  // namespace torch_ir

#endif  // TORCH_IR_CLI_OPTIONS_H_
