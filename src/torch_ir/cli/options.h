// Options and arguments that several commands share.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "torch_ir/base/tolerance.h"
#include "torch_ir/cases/graph_file.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/runtime/graph/case.h"
#include "torch_ir/verifier/value_detail.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace torch_ir {

void add_argument(CLI::App& parser, const std::string& name, std::string& value,
                  const std::string& description);
CLI::Option* add_file_option(CLI::App& parser, const std::string& name, std::string& path,
                             const std::string& description);
// Adds --program, for archives.
void add_program_option(CLI::App& parser, std::string& program);
// Adds FILE, the graph, and --program.
void add_graph_argument(CLI::App& parser, std::string& path, std::string& program);

// Reads IR JSON or an archive; the content decides which. A file named like an archive or a tensor
// file must be an archive. Throws Error for `program` without an archive.
GraphFile read_graph_file(const std::string& path, const std::string& program, WeightBytes bytes);

// The same, with the program of the document. Throws ValidationError, with the first problem, for
// an IR that is not well formed. With `console`, for commands that show graphs without running
// them, only warns about nodes that do not fit their operators.
GraphFile load_graph_file(const std::string& path, const std::string& program, WeightBytes bytes,
                          Console* console = nullptr);

// --weights, and --weights-key for a checkpoint that holds several state dicts.
struct WeightsArguments {
  std::string path;
  std::string key;
};
void add_weights_options(CLI::App& parser, WeightsArguments& weights,
                         const std::string& description);
// Adds --rtol and --atol, with `rule.fixed` as defaults, and --tolerance dtype. With `criterion`,
// --tolerance is auto by default, as in the harness.
void add_tolerance_options(CLI::App& parser, ToleranceRule& rule, Criterion* criterion = nullptr);
// Adds an option with a whole number from 1 to `most`.
void add_count_option(CLI::App& parser, const std::string& name, int64_t& count,
                      const std::string& description,
                      int64_t most = std::numeric_limits<int64_t>::max());

// Throws Error if `output` is the same file as one of `inputs`, by whatever path. Ignores empty
// paths. Call it before doing anything.
void refuse_to_overwrite(const std::string& output, const std::vector<std::string>& inputs);
// Writes to the console if `output` is empty.
void write_result(const std::string& output, const std::string& text, Console& console);

}  // namespace torch_ir
