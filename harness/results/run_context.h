// The options and circumstances of a run, as plain data.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/results/model_files.h"
#include "harness/results/result.h"
#include "harness/results/selection.h"

namespace torch_ir {

// In portable reports, replaces whatever differs between machines.
inline constexpr std::string_view kWithinTolerance = "within tolerance";
inline constexpr std::string_view kVersionPlaceholder = "<version>";

// What can change the last bits of a result, without naming the machine, as names and values:
// "libtorch", "torch_ir", and LibTorch's "compiler", "cpu_capability" (its kernels' instructions),
// "blas", "lapack", "mkl", "onednn", "openmp"; unknown ones are missing.
using Environment = std::vector<std::pair<std::string, std::string>>;

Environment environment();

// Reads one of the "Build settings: NAME=VALUE, ..." of at::show_config(); empty if missing.
std::string build_setting(std::string_view config, std::string_view name);

struct RunContext {
  RunSettings settings = {};
  // Use placeholders for the build of LibTorch and for nonzero differences within the tolerance.
  bool portable = false;
  bool timings = false;
  Environment environment = {};
  bool requires_support = false;
  bool requires_intermediates = false;
  std::optional<std::chrono::duration<double>> timeout = std::nullopt;
  std::optional<int64_t> memory_limit = std::nullopt;
  std::string expected_failures = {};
  std::string baseline = {};
  // Of operators that neither LibTorch nor this program has (load_library.h).
  std::vector<std::string> libraries = {};
  // As the user typed them; the program is empty for //harness under `bazel run`.
  std::string program = {};
  std::string output = {};
};

struct Coverage {
  // Applies to the registry, if `registry`.
  Selection selection = {};
  std::vector<ModelFiles> files = {};
  bool registry = true;
  bool is_split = false;
  // Whether groups that are computed at once stay whole then.
  bool is_grouped = false;
  bool is_interrupted = false;
  size_t num_registered = 0;
  size_t num_archives = 0;
  size_t num_graphs = 0;
};

// A run and its results, also as read back from results.json.
struct RunRecord {
  Coverage coverage = {};
  RunContext context = {};
  std::vector<Result> results = {};
  std::vector<Result> cases = {};
  // False for a file of version 1.
  bool has_cases = true;
};

// Hides what differs between machines if the context is portable.
Environment shown_environment(const RunContext& context);

// `path`, which user_path resolved, as the user typed it.
std::string typed_path(const std::string& path);

// The command that runs `coverage` again, typed where the run was: files and the program appear as
// the user named them. With --output only if the default would replace a file that it reads.
std::string reproduce_command(const Coverage& coverage, const RunContext& context);

// " --load-library PATH" for each.
std::string library_flags(const std::vector<std::string>& libraries);

Origin origin_of(const ModelFiles& files);

// ModelFiles::short_name of the archive or graph.
std::string short_name_of(const Origin& origin);

Coverage coverage_of(const Result& result);

// "rtol 0.0001, atol 0.0001, or as registered".
std::string tolerance_rule_text(const RunSettings& settings);

// Names and values of the settings that affect results, always in the same order; values may be
// empty.
std::vector<std::pair<std::string, std::string>> settings_in_words(const RunSettings& settings);

std::string environment_name(const std::string& key);

// Quotes `text` for a shell if needed; control characters use the $'...' of bash and zsh.
// " --backend my_chip", " --executor 'sim {ir} ...'"; empty for execution plans.
std::string backend_flags(const RunSettings& settings);

std::string shell_word(const std::string& text);

}  // namespace torch_ir
