// What has changed in a graph since the run of a baseline, in words.
//
// Called for each model before its files are written: they may be the same files.
#pragma once

#include <string>
#include <vector>

#include "harness/results/result.h"
#include "harness/results/run_results.h"

namespace torch_ir {

// The graph of `result` compared with that of the same model in `old`, which lies in ir/ beside
// `file`, its results.json; a line each. Empty when the graphs are the same, when a run has none,
// and when there is no such file any more. What is wrong with the file is said in a line.
std::vector<std::string> graph_changes(const RunResults& old, const std::string& file,
                                       const ModelResult& result);

}  // namespace torch_ir
