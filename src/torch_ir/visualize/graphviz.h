// run_graphviz: lays out and draws graphs with Graphviz's `dot`.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace torch_ir {

struct GraphvizOptions {
  std::chrono::duration<double> time_limit = std::chrono::seconds(60);
  std::function<void(const std::string&)> on_warning = {};
};

// The output of `dot -Tformat` for `dot_text`, one or several graphs. Throws Error if `dot` is not
// on the PATH, fails or takes too long.
std::string run_graphviz(const std::string& dot_text, const std::string& format,
                         const GraphvizOptions& options = {});

}  // namespace torch_ir
