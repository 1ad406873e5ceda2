#include "torch_ir/cases/graph_part.h"

#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/ir/document.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> names(const std::vector<TensorMeta>& metas) {
  std::vector<std::string> result;
  for (const TensorMeta& meta : metas) result.push_back(meta.name);
  return result;
}

struct PartDocument : GraphPart {
  IR ir;
};

PartDocument make_part(const EagerGraph& graph, size_t first, size_t last, const V& output,
                       const RunFacts& run = {}) {
  const Program program = resolve(graph.ir);
  const GraphMemory memory = memory_of(graph.as_case());
  const ValueId wanted = program.find(output.name).value();
  PartDocument part{PartCutter(program, memory).cut({first, last, {wanted}}, run), {}};
  part.ir = to_ir(part.program);
  return part;
}

struct ComputableDocument : ComputablePart {
  IR ir;
};

ComputableDocument computable(const IR& ir) {
  const Program program = resolve(ir);
  ComputableDocument part{computable_part(program), {}};
  part.ir = to_ir(without_uncomputable(program, part));
  return part;
}

TEST(GraphPart, HasWhatItsOutputNeedsAndNoMore) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 4}));
  const V used = graph.weight("used", at::randn({4}));
  const V unused = graph.weight("unused", at::randn({4}));
  const V product = graph.call1("aten.mul.Tensor", {x, used});
  const V dead = graph.call1("aten.mul.Tensor", {product, unused});
  const std::vector<V> parts =
      graph.call("aten.split.Tensor", {product, Attribute(2), Attribute(1)});
  graph.output(graph.call1("aten.add.Tensor", {parts[1], parts[0]}));
  graph.output(dead);

  const PartDocument whole = make_part(graph, 0, 3, parts[1]);
  EXPECT_THAT(whole.nodes, ElementsAre(0, 2));
  EXPECT_THAT(names(whole.ir.graph_inputs), ElementsAre("x"));
  EXPECT_THAT(names(whole.ir.weights), ElementsAre("used"));
  EXPECT_THAT(find_problems(whole.ir), IsEmpty());
  EXPECT_EQ(whole.problem, "");

  const PartDocument one = make_part(graph, 2, 2, parts[1]);
  EXPECT_THAT(names(one.ir.graph_inputs), ElementsAre(product.name));
  EXPECT_THAT(names(one.ir.graph_outputs), ElementsAre(parts[1].name));
  EXPECT_THAT(one.ir.weights, IsEmpty());
  EXPECT_THAT(find_problems(one.ir), IsEmpty());
  const std::vector<at::Tensor> outputs =
      compile(one.ir, StateDict()).run_checked({graph.value(product)});
  EXPECT_TRUE(same_bits(outputs.at(0), graph.value(parts[1])));
}

TEST(GraphPart, FixesTheSizesOfOneRun) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 4}));
  const V first = graph.call1("aten.neg.default", {x});
  const V second = graph.call1("aten.exp.default", {first});
  graph.output(second);
  const auto make_dynamic = [](TensorMeta& meta) {
    meta.shape[0] = kDynamicSize;
    meta.symbolic_shape = {"s0", ""};
  };
  make_dynamic(graph.ir.graph_inputs[0]);
  make_dynamic(graph.ir.graph_outputs[0]);
  for (OpNode& node : graph.ir.nodes) {
    make_dynamic(node.inputs[0]);
    make_dynamic(node.outputs[0]);
  }
  ASSERT_THAT(find_problems(graph.ir), IsEmpty());

  const PartDocument part =
      make_part(graph, 1, 1, second, {.shapes = {{first.name, {2, 4}}, {second.name, {2, 4}}}});
  EXPECT_EQ(part.problem, "");
  EXPECT_THAT(find_problems(part.ir), IsEmpty());
  EXPECT_THAT(part.ir.graph_inputs[0].shape, ElementsAre(2, 4));
  EXPECT_THAT(part.ir.graph_inputs[0].symbolic_shape, IsEmpty());
  EXPECT_THAT(part.ir.graph_outputs[0].shape, ElementsAre(2, 4));

  EXPECT_THAT(make_part(graph, 1, 1, second).problem, HasSubstr("unknown size of"));
}

TEST(GraphPart, KeepsNodesThatWriteToItsInputs) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 4}));
  const V made = graph.call1("aten.neg.default", {x});
  const V view = graph.call1("aten.t.default", {made});
  graph.call1("aten.relu_.default", {view});
  const V result = graph.call1("aten.exp.default", {made});
  graph.output(result);

  EXPECT_THAT(make_part(graph, 1, 3, result).nodes, ElementsAre(1, 2, 3));
  EXPECT_EQ(make_part(graph, 1, 3, result).problem, "");
  // The view and its base would become separate inputs.
  EXPECT_THAT(make_part(graph, 2, 3, result).problem,
              HasSubstr("may share memory that is written to"));
  EXPECT_EQ(make_part(graph, 3, 3, result).problem, "");
}

TEST(GraphPart, TakesWeightsThatWereWrittenToAsInputs) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4}));
  const V count = graph.weight("count", at::randn({4}));
  graph.call1("aten.add_.Tensor", {count, x});
  const V product = graph.call1("aten.mul.Tensor", {x, count});
  graph.output(product);

  const PartDocument part = make_part(graph, 1, 1, product);
  EXPECT_THAT(names(part.ir.graph_inputs), ElementsAre("x", "p_count"));
  EXPECT_THAT(part.ir.weights, IsEmpty());
  EXPECT_THAT(find_problems(part.ir), IsEmpty());
  EXPECT_THAT(names(make_part(graph, 0, 1, product).ir.weights), ElementsAre("count"));
}

TEST(GraphPart, SaysWhereStridesMatter) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 4}));
  const V made = graph.call1("aten.neg.default", {x});
  const V strided =
      graph.call1("aten.as_strided.default", {made, Attribute::list({2}), Attribute::list({1})});
  graph.output(strided);
  EXPECT_THAT(make_part(graph, 1, 1, strided).problem,
              HasSubstr("depends on the memory layout of"));
  EXPECT_EQ(make_part(graph, 0, 1, strided).problem, "");
}

// Graphs have the strides of weights, so that only the memory around one is lost.
TEST(GraphPart, KeepsTheStoragesOfWeightsThatAreWhole) {
  for (const bool is_whole : {true, false}) {
    EagerGraph graph;
    const at::Tensor base = at::randn({3, 4});
    const V w = graph.weight("w", is_whole ? base.t() : base.slice(1, 1));
    const V view = graph.call1("aten.t.default", {w});
    const V strided =
        graph.call1("aten.as_strided.default", {view, Attribute::list({2}), Attribute::list({1})});
    graph.output(strided);
    EXPECT_EQ(make_part(graph, 0, 1, strided).problem,
              is_whole ? "" : "'n1' depends on the memory layout of 'p_w'");
  }
}

TEST(ComputablePart, LeavesOutUnknownOperatorsAndWhatNeedsThem) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 4}));
  const V relu = graph.call1("aten.relu.default", {x});
  const V unknown = graph.call1("aten.neg.default", {relu});
  graph.output(graph.call1("aten.add.Tensor", {unknown, x}));
  const V kept = graph.call1("aten.exp.default", {relu});
  graph.output(kept);
  EXPECT_EQ(computable(graph.ir).left_out(), "");
  EXPECT_TRUE(computable(graph.ir).ir == graph.ir);

  graph.ir.nodes[1].op_type = "nobody.knows.default";
  const ComputableDocument part = computable(graph.ir);
  EXPECT_THAT(names(part.ir.graph_outputs), ElementsAre(kept.name));
  EXPECT_EQ(part.left_out(),
            "2 of 4 nodes are left out: 1 with an unsupported operator "
            "(nobody.knows.default), 1 dependent on such nodes; load the library that defines it "
            "(--load-library)");
  const std::vector<at::Tensor> outputs =
      compile(part.ir, StateDict()).run_checked({graph.value(x)});
  EXPECT_TRUE(same_bits(outputs.at(0), graph.value(kept)));

  // It may have written to its input.
  graph.ir.nodes[1].op_type = "nobody.knows_.default";
  EXPECT_EQ(computable(graph.ir).num_dependent, 2u);
}

}  // namespace
}  // namespace torch_ir
