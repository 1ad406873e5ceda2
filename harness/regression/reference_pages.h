// Makes and compares the reference pages in reports/reference, which a run of the registry writes.
//
// A model is covered if its graph is in the folder. A test compares the pages with a new run;
// `bazel run //reports:update -- MODEL...` rewrites them, adding the named models.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/results/result.h"

namespace torch_ir {

// File contents by path relative to the directory.
using Files = std::map<std::string, std::string>;

// The pages and graphs below `directory`, without files for programs and browsers.
Files read_pages(const std::string& directory);

// The SVG files below `directory`. Their bytes depend on the version of Graphviz and its fonts.
Files read_pictures(const std::string& directory);

std::vector<std::string> reference_models(const std::string& directory);

struct ReferencePages {
  std::vector<Result> results;
  Files pages;
  Files pictures;
};

// Runs `models` as if they were the registry. Throws Error when one fails.
ReferencePages make_reference_pages(const std::vector<std::string>& models,
                                    const std::string& scratch);

// Golden files are the reviewed graph and page of a model. The tests of torch_ir_model_test compare
// them with new output; their update targets rewrite them.

// The changes of the graph since `golden`, one line each; versions are ignored. Throws
// Error for text that is not a graph.
std::string graph_difference(const std::string& golden, const std::string& now);

// The lines of the page that have changed since `golden`. Text must be equal, except for versions
// and lines about the machine. Figures may differ by 1 %, or by 1e-5; whole numbers must be equal.
std::string page_difference(const std::string& golden, const std::string& now);

}  // namespace torch_ir
