// RunContext, Coverage and RunRecord: the options, selection and results of a run, as plain data.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/results/model_files.h"
#include "harness/results/result.h"
#include "harness/results/selection.h"

namespace torch_ir {

// Names and values of everything that can change the last bits of a result, without the name of the
// machine: "LibTorch", "torch-ir", "LibTorch's compiler", "CPU instructions" (of LibTorch's
// kernels), "BLAS", "LAPACK", "MKL", "oneDNN", "OpenMP", "oneDNN of fast". Unknown ones are
// missing.
using Environment = std::vector<std::pair<std::string, std::string>>;

Environment environment();

// Reads one of the "Build settings: NAME=VALUE, ..." of at::show_config(); empty if missing.
std::string build_setting(std::string_view config, std::string_view name);

struct RunContext {
  RunSettings settings = {};
  Environment environment = {};
  std::string expected_failures = {};
  std::string tolerances = {};
  std::string baseline = {};
  // Shared libraries of operators, models and backends (load_library.h).
  std::vector<std::string> libraries = {};
  // As the user typed them. `program` is empty for //harness under `bazel run`.
  std::string program = {};
  std::string output = {};
  // The options of the run, except those for Coverage, `libraries` and `output`: "--seed", "7".
  std::vector<std::string> options = {};
  // All words after the program (reproduce_words), if the run was read from results.json.
  std::vector<std::string> words = {};
};

struct Coverage {
  Selection selection = {};
  std::vector<ModelFiles> files = {};
  bool is_split = false;
  bool is_interrupted = false;
  size_t num_registered = 0;

  // Whether the selection applies to registered models, too.
  bool has_registry() const {
    return selection.suite == Suite::kModels &&
           (files.empty() || !selection.models.empty() || !selection.categories.empty());
  }
};

// A run and its results, new or read from results.json.
struct RunRecord {
  Coverage coverage = {};
  RunContext context = {};
  std::vector<Result> results = {};
  std::vector<Result> cases = {};
};

// Reverses user_path: returns `path` as the user typed it.
std::string typed_path(const std::string& path);

// Returns the command that repeats `coverage` in the directory of the run: files and the program
// appear as the user typed them; tensors are found beside their models. It has --output only if the
// default would replace a file that it reads. The words are those after the program, as a shell
// hands them over.
std::string reproduce_command(const Coverage& coverage, const RunContext& context);
std::vector<std::string> reproduce_words(const Coverage& coverage, const RunContext& context);

// "torch-ir cut PATH ..." of an archive, without a node; empty for other models.
std::string cut_command(const Result& result);

// Returns " --load-library PATH" for each library.
std::string library_flags(const std::vector<std::string>& libraries);

// The files without a name, as the user typed them or their folder; those that a graph has beside
// it are left out.
ModelFiles as_typed(ModelFiles files);

Coverage coverage_of(const Result& result);

// "rtol 0.0001, atol 0.0001, or as registered".
std::string tolerance_rule_text(const RunSettings& settings);

// " --executor my_chip", " --executor 'sim {ir} ...'"; empty for our runtime.
std::string backend_flags(const RunSettings& settings);

// " --optimization fast --device cuda"; empty for the defaults.
std::string plan_flags(const RunSettings& settings);

// Quotes `text` for a shell if needed; control characters use the $'...' of bash and zsh.
std::string shell_word(const std::string& text);

}  // namespace torch_ir
