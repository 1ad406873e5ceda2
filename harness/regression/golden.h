// Golden files: a model's graph and its page as they were when somebody looked at them.
//
// The test that torch_ir_model_test makes compares them with what the harness writes now, and
// rewrites them when it is run as its update target. They are portable: they hold placeholders for
// what may differ between machines, as reference_pages.h makes them. Plain text in and out.
#pragma once

#include <string>

namespace torch_ir {

// What the graph `now` has changed since `golden`, a line each, naming the nodes; empty when
// nothing, whatever versions captured them. Throws Error where one is no graph.
std::string graph_difference(const std::string& golden, const std::string& now);

// The lines that the page `now` has changed since `golden`; empty when nothing. A difference of 0
// is as good as one within the tolerance, see same_page.
std::string page_difference(const std::string& golden, const std::string& now);

}  // namespace torch_ir
