// The reports of a run: pages in Markdown, from the templates, index.html, and junit.xml.
//
// A page holds nothing but what the results and the run say, so that the same run gives the same
// bytes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/results/baseline.h"
#include "harness/results/result.h"
#include "harness/results/results_file.h"
#include "harness/results/run_context.h"

namespace torch_ir {

// `picture` is what lies in svg/<Model>.svg, or says why there is none; `cases` may have calls of
// the model.
std::string render_model_page(const Result& result, const RunContext& context,
                              const GraphPicture& picture = {},
                              const std::vector<Result>& cases = {});

// Of single calls it only says how many passed. Null is no comparison with a baseline, here and
// below.
std::string render_summary(const RunRecord& run, const BaselineComparison* baseline = nullptr);

// OPERATORS.md: the single calls of a run that has any.
std::string render_operators(const RunRecord& run);

// The same as a section of index.html; empty where there are none.
std::string operators_section(const std::vector<Result>& cases, const RunContext& context);

// --- index.html: a run in one file, to filter, sort, search and look into ---
//
// The page needs nothing beside itself: no network and no server, so that it works wherever a
// browser gets hold of it. Data and pictures lie in it and are parsed when they are looked at.

// Gives what lies in svg/<Model>.svg, or says why there is none. Called once for each model with a
// graph, in their order, and not any more once the page is full.
using PictureOf = std::function<GraphPicture(const Result& result)>;

// Pictures beyond this size, each and together, are linked to and not part of the page.
inline constexpr size_t kMaxIndexPicture = 4 << 20;
inline constexpr size_t kMaxIndexPictures = 48 << 20;

// Figures are those of this machine, also in a portable context.
void write_index(const RunRecord& run, const BaselineComparison* baseline,
                 const PictureOf& picture_of, const PutText& put);

// The same as one text.
std::string render_index(const RunRecord& run, const PictureOf& picture_of,
                         const BaselineComparison* baseline = nullptr);

// junit.xml: a run as the viewers of CI systems read it.
//
// One suite with a test case a model, in the order of the run, and then one a single call. Viewers
// group by class name; it is "torch_ir." and the first category of the model, and of calls
// "torch_ir.operators." and theirs. An expected failure is skipped, with its reason, and so is what
// is not supported; a model that passes in spite of one has failed. What a model's process printed
// last is its output. Valid XML 1.0 whatever bytes names and messages hold, and without times
// unless the context asks for them.
std::string to_junit_xml(const RunRecord& run);

}  // namespace torch_ir
