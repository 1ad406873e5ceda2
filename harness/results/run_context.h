// What a run of the harness was asked for, and how it was made.
//
// Put together by the harness program; read by whatever writes about a run. Plain data.
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

// What stands in a portable report for a difference within the tolerance, and for all else that may
// differ between machines.
inline constexpr std::string_view kWithinTolerance = "within tolerance";
inline constexpr std::string_view kVersionPlaceholder = "<version>";

// The version of torch-ir and the build of LibTorch that run here, and nothing that names the
// machine: what can change the last bits of a result. Names and values: "libtorch", "torch_ir", and
// of LibTorch "compiler", "cpu_capability" (the instructions that its kernels use), "blas",
// "lapack", "mkl", "onednn", "openmp"; those that it does not tell are left out.
using Environment = std::vector<std::pair<std::string, std::string>>;

Environment environment();

// The value of `name` among the "Build settings: NAME=VALUE, NAME=VALUE, ..." in the text of
// at::show_config(); empty where it is not there.
std::string build_setting(std::string_view config, std::string_view name);

// How it was made, and what its reports are to say.
struct RunContext {
  RunSettings settings = {};
  // Placeholders stand for what may differ between machines: the build of LibTorch, and figures
  // of a difference that is within the tolerance but not 0.
  bool portable = false;
  // Whether they say how long the stages took, which differs from run to run.
  bool timings = false;
  // Build and machine, as far as they can change a result.
  Environment environment = {};
  // Whether a case that is not supported fails the run.
  bool requires_support = false;
  // What else was asked for, where it was: the limits of a model, and files.
  std::optional<std::chrono::duration<double>> timeout = std::nullopt;
  std::optional<int64_t> memory_limit = std::nullopt;
  std::string expected_failures = {};
  std::string baseline = {};
  // The program that runs, without its folders, where it is not //harness: it is another one, or an
  // installed one.
  std::string program = {};
};

// Which models it was asked for.
struct Coverage {
  // Of the registry, where `registry`.
  Selection selection = {};
  std::vector<ModelFiles> files = {};
  bool registry = true;
  // Whether they are taken apart as well.
  bool is_split = false;
  // Whether it ended before all of them had finished.
  bool is_interrupted = false;
  // How many models the registry has, and how many archives and graphs were found.
  size_t num_registered = 0;
  size_t num_archives = 0;
  size_t num_graphs = 0;
};

// A run: of what, how, and what came of it. Read back from an earlier results.json it has what that
// says.
struct RunRecord {
  Coverage coverage = {};
  RunContext context = {};
  // In the order in which they ran.
  std::vector<Result> results = {};
  // Single calls: of the operator suite, of models taken apart, of suites in files.
  std::vector<Result> cases = {};
  // Whether those are known: not from a file of version 1.
  bool has_cases = true;
};

// The environment as the reports of the run name it.
Environment shown_environment(const RunContext& context);

// What to type to run the models of `coverage` again as `context` says; files, and a program other
// than //harness, are named without their folders.
std::string reproduce_command(const Coverage& coverage, const RunContext& context);

// Where the models in `files` come from.
Origin origin_of(const ModelFiles& files);

// A run of the model of `result` alone.
Coverage coverage_of(const Result& result);

// What people call the settings and the environment of a run, for whatever shows them.

// "rtol 0.0001, atol 0.0001, or as registered".
std::string tolerance_rule_text(const RunSettings& settings);

// Names and values of the settings that say what a run computes, in the same order for all runs;
// the value may be empty. What it tells beside that, and keeps, is not among them.
std::vector<std::pair<std::string, std::string>> settings_in_words(const RunSettings& settings);

// The name of an entry of an Environment.
std::string environment_name(const std::string& key);

// `text` for a shell: as it stands where nothing in it is special, else in single quotes, and with
// control characters, which would break the line, as bash and zsh read $'...'.
std::string shell_word(const std::string& text);

}  // namespace torch_ir
