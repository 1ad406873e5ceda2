// OUT/results.json: a run as one file for programs.
//
// Written at the end of a run, read back as the baseline of a later one. results_format.md says
// what is in it, results_schema.json the same in JSON Schema. The same results give the same
// bytes: times are in it only when the context says so, and in a portable file placeholders stand
// for what may differ between machines.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "harness/results/baseline.h"
#include "harness/results/result.h"
#include "harness/results/run_context.h"
#include "harness/results/run_results.h"

namespace torch_ir {

// `run` is run_results(results, ...), and null is no comparison with a baseline. The graphs of the
// models called `without_picture` are not in svg/.
std::string results_to_json(const std::vector<ModelResult>& results, const RunResults& run,
                            const RunContext& context, const BaselineComparison* baseline = nullptr,
                            const std::set<std::string>& without_picture = {});

// Throws SerializationError, in one line that names `path` and the place in it, for a file that is
// something else, or of another version; Error when it can not be read.
RunResults read_results(const std::string& path);

}  // namespace torch_ir
