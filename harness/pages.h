// The report pages: results as Markdown, from the templates.
//
// A page holds nothing but what the results and the run say, so that the same run gives the same
// bytes.
#ifndef TORCH_IR_HARNESS_PAGES_H_
#define TORCH_IR_HARNESS_PAGES_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/harness/archive.h"
#include "torch_ir/harness/environment.h"
#include "torch_ir/harness/graph_picture.h"
#include "torch_ir/harness/result.h"
#include "torch_ir/harness/selection.h"

namespace torch_ir {

// What the pages of one run have in common.
struct PageContext {
  RunSettings settings = {};
  // Placeholders stand for what may differ between machines: the build of LibTorch, and figures
  // of a difference that is within the tolerance but not 0.
  bool portable = false;
  // Whether pages say how long the stages took, which differs from run to run.
  bool timings = false;
  // Build and machine, as far as they can change a result.
  Environment environment = {};
  // What else was asked for, where it was: the limits of a model, and files.
  std::optional<std::chrono::duration<double>> timeout = std::nullopt;
  std::optional<int64_t> memory_limit = std::nullopt;
  std::string expected_failures = {};
  std::string baseline = {};
};

// `picture` is what lies in svg/<Model>.svg, or says why there is none.
std::string render_model_page(const ModelResult& result, const PageContext& context,
                              const GraphPicture& picture = {});

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

// What has changed since an earlier run, ready to be shown.
struct ChangesSection {
  // The earlier results, as the user named them.
  std::string baseline = {};
  // Sentences: what was compared, and how the runs themselves differ.
  std::vector<std::string> notes = {};
  struct Row {
    std::string model = {};
    // "worse", "better", ...
    std::string trend = {};
    // What has changed, one line each.
    std::vector<std::string> changes = {};
  };
  // In the order in which they are shown.
  std::vector<Row> rows = {};
};

std::string render_summary(const std::vector<ModelResult>& results, const Coverage& coverage,
                           const PageContext& context,
                           const std::optional<ChangesSection>& changes = std::nullopt);

// What to type to run the models of `coverage` again as `context` says; files are named without
// their folders.
std::string reproduce_command(const Coverage& coverage, const PageContext& context);

// A run of the model of `result` alone.
Coverage coverage_of(const ModelResult& result);

}  // namespace torch_ir

#endif  // TORCH_IR_HARNESS_PAGES_H_
