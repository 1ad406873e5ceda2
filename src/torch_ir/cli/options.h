// Arguments that several commands have.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/verifier/tolerance.h"

namespace CLI {
class App;
}

namespace torch_ir {

// --quiet and --version, which every command has.
void add_common_options(CLI::App& parser, bool& quiet);
// FILE, required.
void add_graph_argument(CLI::App& parser, std::string& path);
// --weights, and --weights-key for a checkpoint that holds several state dicts.
struct WeightsArguments {
  std::string path;
  std::string key;
};
void add_weights_options(CLI::App& parser, WeightsArguments& weights,
                         const std::string& description);
// The weights, or nothing where no path is given. Throws Error for a key without a path.
StateDict load_given_weights(const WeightsArguments& weights);
// --rtol and --atol, with their values in `rule.fixed` as defaults, or --tolerance dtype.
void add_tolerance_options(CLI::App& parser, ToleranceRule& rule);
// --optimization and --device.
void add_execution_options(CLI::App& parser, ExecutionOptions& options);
// An option with a whole number from 1 to `most`.
void add_count_option(CLI::App& parser, const std::string& name, int64_t& count,
                      const std::string& description,
                      int64_t most = std::numeric_limits<int64_t>::max());

}  // namespace torch_ir
