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
#include <vector>

#include "harness/results/environment.h"
#include "harness/results/result.h"
#include "harness/selection/model_files.h"
#include "harness/selection/selection.h"

namespace torch_ir {

// What stands in a portable report for a difference within the tolerance, and for all else that may
// differ between machines.
inline constexpr std::string_view kWithinTolerance = "within tolerance";
inline constexpr std::string_view kVersionPlaceholder = "<version>";

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
  // What else was asked for, where it was: the limits of a model, and files.
  std::optional<std::chrono::duration<double>> timeout = std::nullopt;
  std::optional<int64_t> memory_limit = std::nullopt;
  std::string expected_failures = {};
  std::string baseline = {};
  // The program that runs, without its folders, where it is not //harness.
  std::string program = {};
};

// Which models it was asked for.
struct Coverage {
  // Of the registry, where `registry`.
  Selection selection = {};
  std::vector<ModelFilesArgument> files = {};
  bool registry = true;
  // How many models the registry has, and how many archives and graphs were found.
  size_t num_registered = 0;
  size_t num_archives = 0;
  size_t num_graphs = 0;
};

// What to type to run the models of `coverage` again as `context` says; files, and a program other
// than //harness, are named without their folders.
std::string reproduce_command(const Coverage& coverage, const RunContext& context);

// A run of the model of `result` alone.
Coverage coverage_of(const ModelResult& result);

}  // namespace torch_ir
