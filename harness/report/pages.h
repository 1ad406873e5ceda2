// The report pages: results as Markdown, from the templates.
//
// A page holds nothing but what the results and the run say, so that the same run gives the same
// bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/results/graph_picture.h"
#include "harness/results/result.h"
#include "harness/results/run_context.h"

namespace torch_ir {

// `picture` is what lies in svg/<Model>.svg, or says why there is none; `cases` may have calls of
// the model.
std::string render_model_page(const ModelResult& result, const RunContext& context,
                              const GraphPicture& picture = {},
                              const std::vector<ModelResult>& cases = {});

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

// Of `cases` it only says how many passed.
std::string render_summary(const std::vector<ModelResult>& results, const Coverage& coverage,
                           const RunContext& context,
                           const std::optional<ChangesSection>& changes = std::nullopt,
                           const std::vector<ModelResult>& cases = {});

// OPERATORS.md: the single calls of a run that has any.
std::string render_operators(const RunRecord& run);

// The same as a section of index.html; empty where there are none.
std::string operators_section(const std::vector<ModelResult>& cases, const RunContext& context);

}  // namespace torch_ir
