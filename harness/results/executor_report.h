// ExecutorReport: what an executor says itself about a run of the graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace torch_ir {

struct ExecutorReport {
  int64_t num_nodes = 0;
  // The nodes that did not run on the accelerator, in graph order.
  std::vector<std::string> on_host = {};
  // Differs from run to run.
  std::optional<double> seconds = std::nullopt;
};

}  // namespace torch_ir
