// ExecutorReport: what an executor says itself about a run of the graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace torch_ir {

using ExecutorMetric = std::variant<int64_t, double, std::string>;

struct ExecutorNode {
  std::string op_type = {};
  // Any word; "host" means not on the accelerator. Empty if it is not reported.
  std::string place = {};
  // The executor's own figures, by their names.
  std::vector<std::pair<std::string, ExecutorMetric>> metrics = {};
};

struct ExecutorReport {
  int64_t num_nodes = 0;
  // By name, in graph order; the executor need not report all nodes.
  std::vector<std::pair<std::string, ExecutorNode>> nodes = {};

  // The names of the nodes whose place is "host", in graph order.
  std::vector<std::string> on_host() const {
    std::vector<std::string> names;
    for (const auto& [name, node] : nodes) {
      if (node.place == "host") names.push_back(name);
    }
    return names;
  }
};

}  // namespace torch_ir
