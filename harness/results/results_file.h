// OUT/results.json: the results of a run in one file for programs (results_format.md,
// results_schema.json). The same results give the same bytes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "harness/results/baseline.h"
#include "harness/results/run_context.h"
#include "torch_ir/ir/json_fields.h"

namespace torch_ir {

// Called once for each piece, because the whole text may not fit into memory.
using PutText = std::function<void(std::string_view)>;

// As in `models` of results.json.
json_fields::Json write_result(const Result& result);

// `baseline` may be null.
void write_results(const RunRecord& run, const BaselineComparison* baseline, const PutText& put);

std::string results_to_json(const RunRecord& run, const BaselineComparison* baseline = nullptr);

// Throws SerializationError, in one line with `path` and the place, for an invalid file or an
// unsupported version; Error if it cannot be read.
RunRecord read_run_record(const std::string& path);

}  // namespace torch_ir
