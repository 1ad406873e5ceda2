// The report pages: results as Markdown, from the templates.
//
// A page holds nothing but what the results and the run say, so that the same run gives the same
// bytes.
#ifndef TORCH_IR_HARNESS_PAGES_H_
#define TORCH_IR_HARNESS_PAGES_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/harness/archive.h"
#include "torch_ir/harness/result.h"
#include "torch_ir/harness/selection.h"

namespace torch_ir {

// What the pages of one run have in common.
struct PageContext {
  RunSettings settings = {};
  // Placeholders stand for what may differ between machines: the version of LibTorch, and figures
  // of a difference that is within the tolerance but not 0.
  bool portable = false;
  // The time limit of a model, when it is not the default.
  std::optional<std::chrono::duration<double>> timeout = std::nullopt;
  // Whether it says how long the stages took.
  bool timings = false;
};

std::string render_model_page(const ModelResult& result, const PageContext& context);

// What a run was asked for.
struct Coverage {
  // Of the registry, where `registry`.
  Selection selection = {};
  std::vector<ArchiveArgument> archives = {};
  bool registry = true;
  // How many models the registry has, and how many archives were found.
  size_t num_registered = 0;
  size_t num_archives = 0;
};

std::string render_summary(const std::vector<ModelResult>& results, const Coverage& coverage,
                           const PageContext& context);

// What to type to run the models of `coverage` again as `context` says; files are named without
// their folders.
std::string reproduce_command(const Coverage& coverage, const PageContext& context);

}  // namespace torch_ir

#endif  // TORCH_IR_HARNESS_PAGES_H_
