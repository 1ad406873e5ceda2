#include "torch_ir/executor/testing/fast_graph.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace torch_ir {

ExecutionPlan fast_plan(const EagerGraph& graph) {
  ExecutionOptions options;
  options.optimization = Optimization::kFast;
  return compile(graph.ir, graph.weights, StateDict(), options);
}

std::vector<std::string> calls_at_fast(const EagerGraph& graph) {
  std::vector<std::string> calls;
  for (const NodeProfile& node : fast_plan(graph).profile(graph.inputs, 1)) {
    std::ranges::copy_if(node.calls, std::back_inserter(calls),
                         [](const std::string& call) { return call != "onednn::reorder"; });
  }
  return calls;
}

std::string difference_at_fast(const EagerGraph& graph, const SecondJudge& judge) {
  const ExecutionPlan plan = fast_plan(graph);
  const std::vector<at::Tensor> expected = graph.expected();
  for (int round = 0; round < 3; ++round) {
    const std::vector<at::Tensor> outputs = plan.run(graph.inputs);
    for (size_t i = 0; i < expected.size(); ++i) {
      if (outputs[i].sizes() != expected[i].sizes()) return "another shape";
      if (outputs[i].strides() != expected[i].strides()) return "other strides";
      if (at::allclose(outputs[i], expected[i], 1e-4, 1e-4, /*equal_nan=*/true)) continue;
      const std::string problem = judge ? judge(outputs, i) : "which is too much";
      if (problem.empty()) continue;
      return fmt::format("output {} differs by {} in round {}, {}", i,
                         (outputs[i] - expected[i]).abs().max().item<double>(), round, problem);
    }
  }
  return "";
}

}  // namespace torch_ir
