// OUT/results.json: a run as one file for programs.
//
// Written at the end of a run, read back as the baseline of a later one. results_format.md says
// what is in it, results_schema.json the same in JSON Schema. The same results give the same
// bytes: times are in it only when the context says so, and in a portable file placeholders stand
// for what may differ between machines.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "harness/results/baseline.h"
#include "harness/results/run_context.h"

namespace torch_ir {

// Takes a text a piece at a time, since all of it may be larger than the memory.
using PutText = std::function<void(std::string_view)>;

// Null is no comparison with a baseline.
void write_results(const RunRecord& run, const BaselineComparison* baseline, const PutText& put);

// The same as one text.
std::string results_to_json(const RunRecord& run, const BaselineComparison* baseline = nullptr);

// Throws SerializationError, in one line that names `path` and the place in it, for a file that is
// something else, or of another version; Error when it can not be read.
RunRecord read_run_record(const std::string& path);

}  // namespace torch_ir
