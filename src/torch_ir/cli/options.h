// Arguments that several commands have, and what is done with them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/cli/command.h"
#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/verifier/tolerance.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace torch_ir {

// --quiet and --version, which every command has.
void add_common_options(CLI::App& parser, bool& quiet);
// A required argument that is no option.
void add_argument(CLI::App& parser, const std::string& name, std::string& value,
                  const std::string& description);
CLI::Option* add_file_option(CLI::App& parser, const std::string& name, std::string& path,
                             const std::string& description);
// FILE, the graph.
void add_graph_argument(CLI::App& parser, std::string& path);

// What FILE is read as: IR JSON, or an archive of torch.export.save, by content. What is called an
// archive, or a file of tensors, has to be an archive.
struct GraphFile {
  IR ir;
  // Those of an archive; an IR file has none.
  std::optional<StateDict> weights;
  // Of the nodes of an archive.
  NodeOrigins origins = {};
};

// The graph of a command. Throws ValidationError for an IR that is not well formed, with its first
// problem.
GraphFile load_graph_file(const std::string& path);

// The graph as it is, well formed or not: for the command that lists all problems. Throws what
// reading throws.
GraphFile read_graph_file(const std::string& path);

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

// Throws Error when `output` is the same file as one of `inputs`, by whatever path. An empty path
// is none. To be called before anything is done.
void refuse_to_overwrite(const std::string& output, const std::vector<std::string>& inputs);
// Writes to the file, or to the console where `output` is empty.
void write_result(const std::string& output, const std::string& text, Console& console);

}  // namespace torch_ir
