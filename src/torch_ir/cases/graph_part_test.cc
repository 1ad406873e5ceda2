#include "torch_ir/cases/graph_part.h"

#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/ir/document.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/program_graphs.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

GraphPart make_part(const EagerGraph& graph, size_t first, size_t last, const V& output,
                    const RunFacts& run = {}) {
  const Program program = resolve(graph.ir);
  const GraphMemory memory = memory_of(graph.as_case());
  const ValueId wanted = program.find(output.name).value();
  const GroupedGraph grouped = group_nodes(program, memory, {});
  GraphPart part = cut_part(grouped, memory, {first, last, {wanted}}, run);
  if (part.problem.empty()) {
    EXPECT_THAT(find_problems(to_ir(part.program)), IsEmpty());
  }
  return part;
}

// The inputs of `program`, those of the user first, by the names of values and in the state dict.
std::vector<std::string> inputs_of(const Program& program) {
  std::vector<std::string> names = names_of(program, program.user_inputs());
  for (const GraphInput& input : program.inputs) {
    if (input.kind != InputKind::kUserInput) names.push_back(input.target);
  }
  return names;
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

  const GraphPart whole = make_part(graph, 0, 3, parts[1]);
  EXPECT_THAT(whole.nodes, ElementsAre(0, 2));
  EXPECT_THAT(inputs_of(whole.program), ElementsAre("x", "used"));
  EXPECT_EQ(whole.problem, "");

  const GraphPart one = make_part(graph, 2, 2, parts[1]);
  EXPECT_THAT(inputs_of(one.program), ElementsAre(product.name));
  EXPECT_THAT(names_of(one.program, one.program.outputs), ElementsAre(parts[1].name));
  const std::vector<at::Tensor> outputs =
      compile(Case().with(one.program)).run_checked({graph.value(product)});
  EXPECT_TRUE(same_bits(outputs.at(0), graph.value(parts[1])));
}

TEST(GraphPart, NeedsTheSizesOfOneRun) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 4}));
  const V result = graph.call1("aten.neg.default", {x});
  graph.output(result);
  OpNode& node = graph.ir.nodes[0];
  for (TensorMeta* meta :
       {&graph.ir.graph_inputs[0], &node.inputs[0], &node.outputs[0], &graph.ir.graph_outputs[0]}) {
    meta->shape[0] = kDynamicSize;
    meta->symbolic_shape = {"s0", ""};
  }
  EXPECT_EQ(make_part(graph, 0, 0, result).problem, "unknown size of 'x'");
  const RunFacts run = {.shapes = {{"x", {2, 4}}, {result.name, {2, 4}}}};
  EXPECT_EQ(make_part(graph, 0, 0, result, run).problem, "");
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

  EXPECT_THAT(inputs_of(make_part(graph, 1, 1, product).program), ElementsAre("x", "p_count"));
  EXPECT_THAT(inputs_of(make_part(graph, 0, 1, product).program), ElementsAre("x", "count"));
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
  const ComputablePart all = computable_part(*graph.program());
  EXPECT_EQ(all.left_out(), "");
  EXPECT_TRUE(to_ir(without_uncomputable(*graph.program(), all)) == graph.ir);

  graph.ir.nodes[1].op_type = "nobody.knows.default";
  const ComputablePart part = computable_part(*graph.program());
  const Program rest = without_uncomputable(*graph.program(), part);
  EXPECT_THAT(names_of(rest, rest.outputs), ElementsAre(kept.name));
  EXPECT_EQ(part.left_out(),
            "2 of 4 nodes are left out: 1 with an unsupported operator "
            "(nobody.knows.default), 1 dependent on such nodes; load the library that defines it "
            "(--load-library)");
  const std::vector<at::Tensor> outputs = compile(Case().with(rest)).run_checked({graph.value(x)});
  EXPECT_TRUE(same_bits(outputs.at(0), graph.value(kept)));

  // It may have written to its input.
  graph.ir.nodes[1].op_type = "nobody.knows_.default";
  EXPECT_EQ(computable_part(*graph.program()).num_dependent, 2u);
}

}  // namespace
}  // namespace torch_ir
