#include "torch_ir/runtime/interpreter/node_run.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// A graph whose values are copied as they are made.
class RecordedGraph : public EagerGraph {
 public:
  std::vector<V> record(const std::string& op_type, std::vector<EagerArgument> arguments) {
    std::vector<V> outputs = call(op_type, std::move(arguments));
    for (const V& output : outputs) made.emplace_back(output.name, value(output).clone());
    return outputs;
  }

  std::vector<std::pair<std::string, at::Tensor>> made;
};

TEST(NodeRun, TellsEachValueAsItsNodeMadeIt) {
  RecordedGraph graph;
  const V x = graph.input("x", at::randn({4, 6}));
  const V gain = graph.weight("gain", at::randn({6}));
  const V product = graph.record("aten.mul.Tensor", {x, gain})[0];
  const V view = graph.record("aten.t.default", {product})[0];
  // Writes to the product, through its view; nothing reads the result of the call.
  graph.record("aten.relu_.default", {view});
  const std::vector<V> parts = graph.record("aten.split.Tensor", {product, 2});
  // Nothing reads the indices either.
  graph.output(graph.record("aten.topk.default", {parts[1], 3})[0]);

  NodeRun run(graph.as_case());
  for (const auto& [name, expected] : graph.made) {
    const at::Tensor value = run.value(name);
    ASSERT_TRUE(value.defined()) << name;
    EXPECT_TRUE(same_bits(value, expected)) << name;
  }
  EXPECT_TRUE(same_bits(graph.inputs[0], graph.value(x)));
}

TEST(NodeRun, ShowsInputsAndWeightsAsTheRunChangesThem) {
  EagerGraph graph;
  const V x = graph.input("x", at::ones({3}));
  const V y = graph.input("y", at::ones({3}));
  const V count = graph.weight("count", at::ones({3}));
  const V gain = graph.weight("gain", at::ones({3}));
  graph.call1("aten.add_.Tensor", {x, gain});
  graph.call1("aten.add_.Tensor", {count, y});
  graph.output(graph.call1("aten.mul.Tensor", {x, count}));

  NodeRun run(graph.as_case());
  const auto current = [&](const char* name) {
    return run.current(run.graph().source->find(name).value());
  };
  const at::Tensor copy_of_x = current("x");
  const at::Tensor copy_of_count = current("p_count");
  EXPECT_TRUE(current("y").is_same(graph.inputs[1]));
  EXPECT_TRUE(current("p_gain").is_same(graph.weights["gain"]));
  EXPECT_FALSE(current("n0").defined());
  run.value("n2");
  EXPECT_TRUE(copy_of_x.equal(at::ones({3}) * 2));
  EXPECT_TRUE(copy_of_count.equal(at::ones({3}) * 2));
  EXPECT_TRUE(graph.inputs[0].equal(at::ones({3})));
  EXPECT_TRUE(graph.weights["count"].equal(at::ones({3})));
}

TEST(NodeRun, RunsOnlyAsFarAsIsAskedFor) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 3}));
  const V relu = graph.call1("aten.relu.default", {x});
  const V negated = graph.call1("aten.neg.default", {relu});
  const V flat = graph.call1("aten.view.default", {negated, Attribute::list({6})});
  graph.output(flat);
  graph.ir.nodes[2].attrs.set("size", Attribute::list({7}));

  NodeRun run(graph.as_case());
  EXPECT_FALSE(run.value("nothing").defined());
  EXPECT_TRUE(run.value(negated.name).defined());
  EXPECT_FALSE(run.value(relu.name).defined()) << "it has been passed";
  EXPECT_THAT([&] { run.value(flat.name); },
              ThrowsMessage<ExecutionError>(
                  AllOf(HasSubstr("Node 'n2' (aten.view.default) failed"), HasSubstr("[2, 3]"))));
}

TEST(NodeRun, LetsGoOfWhatTheGraphReadsNoMore) {
  EagerGraph graph;
  V last = graph.input("x", at::randn({8}));
  for (int i = 0; i < 4; ++i) last = graph.call1("aten.neg.default", {last});
  graph.output(last);

  NodeRun run(graph.as_case());
  const at::Tensor first = run.value("n0");
  run.value("n1");
  run.value("n2");
  EXPECT_EQ(first.use_count(), 1U);
}

}  // namespace
}  // namespace torch_ir
