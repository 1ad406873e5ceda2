// Tests properties of every graph on random graphs. A graph that fails is shrunk to a small one.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "torch_ir/analysis/diff.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/properties/testing/random_graph.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/testing/eager_graph.h"
#include "torch_ir/verifier/judge_run.h"

namespace torch_ir {
namespace {

void expect_none(const std::string& difference) {
  RC_LOG() << difference;
  RC_ASSERT(difference.empty());
}

void expect_bits(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& expected) {
  RC_ASSERT(outputs.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) RC_ASSERT(same_bits(outputs[i], expected[i]));
}

void expect_round_trip(const IR& ir) {
  RC_ASSERT(find_problems(ir) == std::vector<std::string>());
  const std::string text = ir.to_json();
  const IR read = IR::from_json(text);
  RC_ASSERT(read == ir);
  RC_ASSERT(read.to_json() == text);
}

RC_GTEST_PROP(EveryGraph, IsReadAsItWasWritten, (const GraphMoves& moves)) {
  expect_round_trip(make_graph(moves).ir);
  const std::optional<IR> dynamic = make_dynamic_graph(moves);
  if (dynamic) expect_round_trip(*dynamic);
}

// Names of nodes are labels.
IR with_other_nodes(IR ir) {
  std::unordered_set<std::string> nodes;
  for (const OpNode& node : ir.nodes) nodes.insert(node.name);
  for (OpNode& node : ir.nodes) {
    node.name = "other_" + node.name;
    for (TensorMeta& input : node.inputs) {
      if (input.producer_node && nodes.contains(*input.producer_node)) {
        input.producer_node = "other_" + *input.producer_node;
      }
    }
  }
  return ir;
}

RC_GTEST_PROP(EveryGraph, DiffersFromNoGraphThatIsEqual, (const GraphMoves& moves)) {
  const EagerGraph graph = make_graph(moves);
  for (const IR& ir : {graph.ir, make_dynamic_graph(moves).value_or(graph.ir)}) {
    const Program program = resolve(ir);
    const GraphDiff difference = diff(program, resolve(IR::from_json(ir.to_json())));
    RC_ASSERT(difference.changes.empty() && difference.renames.empty());
    RC_ASSERT(diff(program, resolve(with_other_nodes(ir))).is_equal());
  }
}

// Runs twice, as the first run traces and the second replays. Must not write to the caller's
// values.
RC_GTEST_PROP(EveryGraph, GivesTheBitsOfEagerCalls, (const GraphMoves& moves)) {
  expect_none(difference_from_eager(make_graph(moves)));
}

// Replayed; step by step; without kernels; without shared memory and constants made once.
std::vector<ExecutionOptions> ways_to_run() {
  std::vector<ExecutionOptions> ways(4);
  ways[1].trace = false;
  ways[2].kernels = false;
  ways[3].fold_constants = ways[3].reuse_memory = false;
  return ways;
}

// Each plan on one input after the other.
RC_GTEST_PROP(EveryGraph, GivesTheSameHoweverItRuns, (const GraphMoves& moves)) {
  const EagerGraph graph = make_graph(moves);
  const EagerGraph other = make_graph(moves, /*rows=*/5, /*seed=*/2);
  RC_PRE(make_same_calls(graph.ir, other.ir));
  for (const ExecutionOptions& options : ways_to_run()) {
    const ExecutionPlan plan = compile(graph.ir, graph.weights, StateDict(), options);
    const std::vector<at::Tensor> first = plan.run(graph.inputs);
    const std::vector<at::Tensor> second = plan.run(other.inputs);
    expect_bits(plan.run(graph.inputs), graph.expected());
    expect_bits(second, other.expected());
    expect_bits(first, graph.expected());
  }
}

RC_GTEST_PROP(EveryDynamicGraph, GivesTheBitsOfEagerCallsAtAnySize, (const GraphMoves& moves)) {
  const std::optional<IR> ir = make_dynamic_graph(moves);
  if (!ir) return;
  const ExecutionPlan plan = compile(*ir, make_graph(moves).weights);
  for (const int64_t rows : {5, 9, 7, 5, 9}) {
    const EagerGraph graph = make_graph(moves, rows);
    if (make_same_calls(graph.ir, *ir)) expect_bits(plan.run(graph.inputs), graph.expected());
  }
}

RC_GTEST_PROP(EveryGraph, IsWithinTheToleranceAtLevelFast, (const GraphMoves& moves)) {
  expect_none(difference_at_fast(make_graph(moves)));
}

// Successive batch norms amplify rounding errors, so that eager is no closer to the exact result.
RC_GTEST_PROP(EveryNetwork, IsWithinTheToleranceOrAsGoodAsEagerAtLevelFast,
              (const NetworkMoves& moves)) {
  const EagerGraph graph = make_network(moves);
  const auto judge = [&](const std::vector<at::Tensor>& outputs, size_t index) {
    Case content = graph.as_case();
    content.expected = graph.expected();
    return judge_run({.graph_case = content, .outputs = outputs}, {.fixed = kExactTolerance},
                     {.reference = ReferenceKind::kAuto})
        .output_details.at(index)
        .problem;
  };
  expect_none(difference_at_fast(graph, judge));
}

}  // namespace
}  // namespace torch_ir
