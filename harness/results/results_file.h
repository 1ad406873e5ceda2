// OUT/results.json: a run as one file for programs, described by results_format.md and
// results_schema.json. The same results give the same bytes: times are optional, and a portable
// file has placeholders for what differs between machines.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "harness/results/baseline.h"
#include "harness/results/run_context.h"

namespace torch_ir {

// Called once for each piece, because the whole text may not fit into memory.
using PutText = std::function<void(std::string_view)>;

// `baseline` may be null.
void write_results(const RunRecord& run, const BaselineComparison* baseline, const PutText& put);

std::string results_to_json(const RunRecord& run, const BaselineComparison* baseline = nullptr);

// Throws SerializationError, in one line that names `path` and the place, for a malformed file or
// another version; Error when it cannot be read.
RunRecord read_run_record(const std::string& path);

}  // namespace torch_ir
