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
  std::vector<Result> results;
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

// --- Golden files: a model's graph and its page as they were when somebody looked at them ---
//
// The test that torch_ir_model_test makes compares them with what the harness writes now, and
// rewrites them when it is run as its update target. They hold the same placeholders.

// What the graph `now` has changed since `golden`, a line each, naming the nodes; empty when
// nothing, whatever versions captured them. Throws Error where one is no graph.
std::string graph_difference(const std::string& golden, const std::string& now);

// The lines that the page `now` has changed since `golden`; empty when nothing. A difference of 0
// is as good as one within the tolerance, see same_page.
std::string page_difference(const std::string& golden, const std::string& now);

}  // namespace torch_ir
