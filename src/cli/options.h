// Arguments that several commands have.
#ifndef TORCH_IR_CLI_OPTIONS_H_
#define TORCH_IR_CLI_OPTIONS_H_

#include <cstdint>
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
// An option with a whole number above 0.
void add_count_option(CLI::App& parser, const std::string& name, int64_t& count,
                      const std::string& description);

}  // namespace torch_ir

#endif  // TORCH_IR_CLI_OPTIONS_H_
