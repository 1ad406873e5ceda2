// The reference pages: what a run of a registry writes, kept in reports/reference.
//
// They hold placeholders for what may differ between machines, so that they are the same on all of
// them. Which models they are about is said by the graphs that lie there: a model may go without. A
// test compares them with a new run; `bazel run //reports:update -- MODEL...` rewrites them, those
// of further models with them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/results/result.h"

namespace torch_ir {

// Path relative to the directory, and content.
using Files = std::map<std::string, std::string>;

// The pages and graphs below `directory`; what is made for programs and browsers is not among them.
Files read_pages(const std::string& directory);

// The pictures of graphs below `directory`. They differ with the version of Graphviz and its fonts,
// so a test only looks at what they show.
Files read_pictures(const std::string& directory);

// The models that have a graph below `directory`.
std::vector<std::string> reference_models(const std::string& directory);

// A graph, as JSON, with a placeholder for the version of LibTorch that captured it.
std::string portable_graph(const std::string& json);

struct ReferencePages {
  std::vector<ModelResult> results;
  Files pages;
  Files pictures;
};

// Runs `models` as if they were the registry, with `scratch` as the output. Throws Error when one
// fails.
ReferencePages make_reference_pages(const std::vector<std::string>& models,
                                    const std::string& scratch);

// How two machines' pages may differ, and mean the same: a difference is 0 on one and within the
// tolerance on the other.
bool same_page(std::string_view a, std::string_view b);

}  // namespace torch_ir
