// The reports of a run: Markdown pages, index.html and junit.xml. They depend only on the results
// and the run, so the same run gives the same bytes.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/report/graph_picture.h"
#include "harness/results/baseline.h"
#include "harness/results/result.h"
#include "harness/results/results_file.h"
#include "harness/results/run_context.h"

namespace torch_ir {

// `picture` is the content of svg/<Model>.svg or the reason why it is missing; `cases` may include
// the model's calls.
std::string render_model_page(const Result& result, const RunContext& context,
                              const GraphPicture& picture = {},
                              const std::vector<Result>& cases = {});

// Shows only the counts of single calls. `baseline` may be null, also below.
std::string render_summary(const RunRecord& run, const BaselineComparison* baseline = nullptr);

std::string render_operators(const RunRecord& run);

// COMPARE.md: what changed between two runs with these names, and at which nodes. The context of
// `now` has both folders, as baseline and output.
std::string render_comparison(const RunRecord& old, const RunRecord& now,
                              const BaselineComparison& comparison,
                              const std::pair<std::string, std::string>& names);

// index.html: a run in one file, to filter, sort and search. It works offline and without a server.
// Its data is JSON in parts, each compressed and read when it is needed: "run", "models" with a row
// for each, and for model N of the run "model-N".

// Returns the picture of a graph or why it is missing.
using PictureOf = std::function<GraphPicture(const Result& result)>;
using PutPart = std::function<void(const std::string& id, const std::string& json)>;

// Together, before they are compressed; further graphs are left out.
inline constexpr size_t kMaxIndexGraphs = 64 << 20;

// Without `has_pages`, it has no links to files beside it, nor commands that repeat one model.
void write_index(const RunRecord& run, const BaselineComparison* baseline,
                 const PictureOf& picture_of, const PutText& put, bool has_pages = true);
void put_index_data(const RunRecord& run, const BaselineComparison* baseline,
                    const PictureOf& picture_of, const PutPart& put, bool has_pages = true);
// The operators of single calls; null if there are no calls.
json_fields::Json operators_json(const std::vector<Result>& cases);

// junit.xml, for CI systems.
//
// One suite has a test case per model in the order of the run, another one per single call. Class
// names are "torch_ir." and the model's first category, or "torch_ir.operators." and the call's.
// Expected failures (with their reason) and unsupported cases are skipped; an unexpected pass is a
// failure. The output is the last lines of the model's process. The XML 1.0 is valid whatever bytes
// names and messages hold. It has times only if the context asks for them.
std::string to_junit_xml(const RunRecord& run);

}  // namespace torch_ir
