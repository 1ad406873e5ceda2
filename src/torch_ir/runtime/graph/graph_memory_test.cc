#include "torch_ir/runtime/graph/graph_memory.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/runtime/graph/bind_weights.h"
#include "torch_ir/runtime/graph/lowered_graph.h"
#include "torch_ir/runtime/graph/state.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::set<std::string> names_where(bool (GraphMemory::*is)(ValueId) const,
                                  const EagerGraph& recorded) {
  const LoweredGraph graph = lower(recorded.as_case());
  std::set<std::string> names;
  for (ValueId id = 0; id < graph.source->values.size(); ++id) {
    if ((graph.memory.*is)(id)) names.emplace((*graph.source)[id].name);
  }
  return names;
}

std::set<std::string> written(const EagerGraph& graph) {
  return names_where(&GraphMemory::is_written, graph);
}

TEST(GraphMemory, FindsNothingToCopyInAFunctionalGraph) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 2}));
  const V w = graph.weight("w", at::randn({2, 2}));
  const V y = graph.call1("aten.linear.default", {x, graph.call1("aten.t.default", {w})});
  graph.call1("aten.softmax.int", {y, -1});
  EXPECT_THAT(written(graph), IsEmpty());
  EXPECT_THAT(names_where(&GraphMemory::may_be_constant, graph), ElementsAre("n0", "p_w"));
}

// An in-place activation is everyday, and must not cost a copy of the weights before it.
TEST(GraphMemory, KnowsThatALayerMakesANewTensor) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({1, 2, 4, 4}));
  const V s = graph.weight("s", at::ones({2}));
  const V y = graph.call1("aten.conv2d.default", {x, graph.weight("w", at::randn({2, 2, 3, 3}))});
  const V z = graph.call1("aten.batch_norm.default", {y, s, s, s, s, false, 0.1, 1e-5, false});
  graph.call("aten.relu_.default", {z});
  EXPECT_THAT(written(graph), ElementsAre("n1", "n2"));
}

TEST(GraphMemory, KnowsViewsWithoutAnnotation) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4}));
  const V y = graph.call1("aten._unsafe_view.default", {x, Attribute::list({2, 2})});
  graph.call("aten.relu_.default", {graph.call("aten.unsafe_split.Tensor", {y, 1})[0]});
  EXPECT_THAT(written(graph), ElementsAre("n0", "n1_0", "n1_1", "n2", "x"));
  // Nor is a composite trusted that may return its argument.
  EagerGraph composites;
  const V a = composites.input("a", at::randn({2}));
  const V b = composites.call1("aten.feature_dropout.default", {a, 0.5, false});
  composites.call("aten.relu_.default", {composites.call1("aten.type_as.default", {b, a})});
  EXPECT_THAT(written(composites), ElementsAre("a", "n0", "n1", "n2"));
}

TEST(GraphMemory, KnowsWhatSharesMemoryAndWhoWritesToIt) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4, 6}));
  const V bias = graph.weight("bias", at::randn({6}));
  const V sum = graph.call1("aten.add.Tensor", {x, bias});
  const V view = graph.call1("aten.t.default", {sum});
  const V relu = graph.call1("aten.relu_.default", {view});
  graph.output(graph.call1("aten.neg.default", {sum}));

  const Program program = resolve(graph.ir);
  const GraphMemory memory = memory_of(graph.as_case());
  const auto of = [&](const std::string& name) { return memory.of(program.find(name).value()); };
  EXPECT_EQ(of(sum.name), of(view.name));
  EXPECT_EQ(of(sum.name), of(relu.name));
  EXPECT_NE(of(sum.name), of("x"));
  EXPECT_NE(of("x"), of("p_bias"));
  EXPECT_THAT(memory.written_by(0), IsEmpty());
  EXPECT_THAT(memory.written_by(2), ElementsAre(of(sum.name)));
  EXPECT_TRUE(memory.is_written(of(view.name), 0, 3));
  EXPECT_FALSE(memory.is_written(of(view.name), 3, 4));
  EXPECT_FALSE(memory.is_written(of("x"), 0, 4));
}

TEST(GraphMemory, TakesOperatorsThatThisProcessCannotRun) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4}));
  const V foo = graph.call1("aten.neg.default", {x});
  const V exp = graph.call1("aten.exp.default", {foo});
  graph.output(exp);
  graph.ir.nodes[0].op_type = "nobody.foo.default";
  const Program program = resolve(graph.ir);
  const GraphMemory memory = memory_of(graph.as_case());
  const auto of = [&](const std::string& name) { return memory.of(program.find(name).value()); };
  EXPECT_EQ(of(foo.name), of("x"));
  EXPECT_NE(of(exp.name), of("x"));
  EXPECT_THAT(memory.written_by(0), IsEmpty());
  graph.ir.nodes[0].op_type = "nobody.foo_.default";
  EXPECT_THAT(memory_of(graph.as_case()).written_by(0), testing::SizeIs(1));
}

// --- Weights of files, which are contiguous ---

TEST(BindWeights, LaysWeightsAndConstantsOutAsTheGraphSays) {
  EagerGraph graph;
  const at::Tensor tied = at::randn({3, 2});
  graph.weight("w", tied);
  graph.weight("same", tied);
  graph.weight("c", at::randn({2, 2}));
  for (TensorMeta& weight : graph.ir.weights) weight.strides = {1, 3};
  graph.ir.constants.insert("c", graph.weights["c"]);
  graph.weights.erase("c");
  const Program program = resolve(graph.ir);
  const auto bound = [&](const std::string& name) {
    return bind_weights(graph.as_case()).tensors[program.find(name).value()];
  };
  for (const char* name : {"p_w", "p_same"}) {
    const at::Tensor weight = bound(name);
    EXPECT_THAT(weight.strides(), ElementsAre(1, 3));
    EXPECT_TRUE(same_bits(weight, tied));
  }
  const std::vector<at::Tensor> tensors = bind_weights(graph.as_case()).tensors;
  EXPECT_TRUE(tensors[*program.find("p_w")].is_same(tensors[*program.find("p_same")]));
  EXPECT_THAT(bound("p_c").strides(), ElementsAre(1, 3));
  // Weights that lie so already are not copied.
  graph.weights["w"] = graph.weights["same"] = bound("p_w");
  EXPECT_TRUE(bound("p_w").is_same(graph.weights["w"]));
}

TEST(BindWeights, RefusesValuesThatStridesCannotHold) {
  EagerGraph graph;
  graph.weight("w", at::randn({3, 2}));
  graph.ir.weights[0].strides = {0, 1};
  EXPECT_THAT(
      execution_error([&] { bind_weights(graph.as_case()); }),
      ::testing::HasSubstr("Weight 'w': strides [0, 1] of a tensor of shape [3, 2]: elements "
                           "that share memory have different values."));
}

TEST(CheckStorable, RefusesWhatFilesOfWeightsLose) {
  const at::Tensor base = at::randn({3, 4});
  const auto check = [](const at::Tensor& first, const at::Tensor& second, const char* op_type,
                        std::vector<EagerArgument> rest) {
    EagerGraph graph;
    std::vector<EagerArgument> arguments = {
        graph.call1("aten.t.default", {graph.weight("w", first)})};
    graph.weight("other", second);
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    graph.output(graph.call1(op_type, arguments));
    return [graph] { check_storable(graph.as_case()); };
  };
  const auto strided = [&](const at::Tensor& weight) {
    return check(weight, at::ones({1}), "aten.as_strided.default",
                 {Attribute::list({2}), Attribute::list({1})});
  };
  const std::string lost = "; a file of weights cannot store that";
  const std::string around = "node 'n1' reads the storage of 'w', a part of a larger one" + lost;
  EXPECT_THAT(strided(base.slice(1, 1)), ::testing::ThrowsMessage<WeightError>(around));
  EXPECT_THAT(strided(base.slice(0, 0, 2)), ::testing::ThrowsMessage<WeightError>(around));
  EXPECT_THAT(strided(base.slice(1, 0, 4, 2)), ::testing::ThrowsMessage<WeightError>(around));
  EXPECT_NO_THROW(strided(base.t())());
  EXPECT_NO_THROW(strided(base.slice(1, 1).contiguous())());
  // Nothing reads around it.
  EXPECT_NO_THROW(check(base.slice(1, 1), base, "aten.neg.default", {})());
  // A document says that names are tied, so that they are one tensor again.
  EagerGraph tied;
  tied.output(tied.call1("aten.neg_.default", {tied.weight("w", base)}));
  tied.weight("other", base);
  EXPECT_THAT([&] { check_storable(tied.as_case()); }, ::testing::Throws<WeightError>());
  tied.ir.tied_weights = {{"other", "w"}};
  EXPECT_NO_THROW(check_storable(tied.as_case()));
  EXPECT_THAT(check(base, base.slice(1, 1), "aten.neg_.default", {}),
              ::testing::ThrowsMessage<WeightError>(
                  "node 'n1' writes to 'w', which shares its memory with 'other'" + lost));
}

TEST(State, IsWhatNodesWriteTo) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 3}));
  const V shape_only = graph.input("shape_only", at::randn({2}));
  const V cache = graph.weight("cache", at::randn({2, 2, 3}));
  const V mean = graph.weight("mean", at::ones({3}));
  const V var = graph.weight("var", at::ones({3}));
  const V trained = graph.weight("trained", at::ones({3}));
  graph.call("aten.copy_.default", {graph.call1("aten.select.int", {cache, 0, 1}), x});
  graph.call("aten.unsqueeze_.default", {shape_only, 0});
  for (const auto& [statistics, is_training] : {std::pair(mean, true), {trained, false}}) {
    graph.call("aten.batch_norm.default",
               {x, Attribute(), Attribute(), statistics, var, is_training, 0.1, 1e-5, false});
  }
  IR ir = graph.ir;
  add_state(ir);
  EXPECT_THAT(ir.state, ElementsAre("p_cache", "p_mean", "p_var"));
  ir.state = {"x"};
  add_state(ir);
  EXPECT_THAT(ir.state, ElementsAre("x"));
}

}  // namespace
}  // namespace torch_ir
