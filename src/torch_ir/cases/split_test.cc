#include "torch_ir/cases/split.h"

#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/program_graphs.h"
#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

// A model whose values are copied as its calls make them.
class EagerModel : public EagerGraph {
 public:
  std::vector<V> calls(const std::string& op_type, std::vector<EagerArgument> arguments) {
    std::vector<V> outputs = call(op_type, std::move(arguments));
    for (const V& output : outputs) made.emplace(output.name, value(output).clone());
    return outputs;
  }
  V calls1(const std::string& op_type, std::vector<EagerArgument> arguments) {
    return calls(op_type, std::move(arguments)).at(0);
  }

  SplitModel model(const std::string& name) const { return {.name = name, .content = as_case()}; }

  std::map<std::string, at::Tensor> made;
};

class SplitTest : public ::testing::Test {
 protected:
  void split(const SplitModel& model) {
    splitter_.add(model, [&](const SuiteCase& it) { cases_.push_back(it); });
  }

  // Splits `model`, and checks that each case alone computes the values of the model.
  void split(const EagerModel& model, const std::string& name = "model") {
    const size_t first = cases_.size();
    split(model.model(name));
    for (size_t i = first; i < cases_.size(); ++i) {
      expect_alone(cases_[i]);
      const Case& content = cases_[i].content;
      for (size_t k = 0; k < content.expected.size(); ++k) {
        const std::string& output = (*content.program)[content.program->outputs[k]].name;
        EXPECT_TRUE(same_bits(content.expected[k], model.made.at(output))) << output;
      }
    }
  }

  static void expect_alone(const SuiteCase& it) {
    const Case& content = it.content;
    std::vector<at::Tensor> before;
    for (const at::Tensor& input : content.inputs) before.push_back(input.clone());
    const std::vector<at::Tensor> outputs = compile(content).run_checked(content.inputs);
    ASSERT_EQ(outputs.size(), content.expected.size()) << it.info.name;
    ASSERT_FALSE(outputs.empty()) << it.info.name;
    for (size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_TRUE(same_bits(outputs[i], content.expected[i])) << it.info.name;
    }
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_TRUE(same_bits(content.inputs[i], before[i])) << it.info.name;
    }
  }

  // The name of each case, and the nodes where it occurs.
  std::vector<std::string> found() const {
    std::vector<std::string> texts;
    for (const CaseInfo& info : splitter_.cases()) {
      texts.push_back(info.name + ":");
      for (const CaseOccurrence& it : info.occurrences) {
        texts.back() += " " + it.model + "." + it.node;
      }
    }
    return texts;
  }

  Splitter splitter_;
  std::vector<SuiteCase> cases_;
};

TEST_F(SplitTest, MakesOneCaseOfEqualCalls) {
  EagerModel model;
  const V x = model.input("x", at::randn({2, 3}));
  const V first = model.calls1("aten.relu.default", {x});
  const V second = model.calls1("aten.neg.default", {first});
  model.output(model.calls1("aten.relu.default", {second}));
  split(model);
  EXPECT_THAT(found(), ElementsAre("aten.relu.default/float32/2x3: model.n0 model.n2",
                                   "aten.neg.default/float32/2x3: model.n1"));
  EXPECT_TRUE(same_bits(cases_.at(0).content.inputs.at(0), model.inputs[0]));
  EXPECT_EQ(cases_.at(0).info.category, kSplitCategory);
  EXPECT_EQ(cases_.at(0).content.program->model_name, "aten.relu.default/float32/2x3");
}

TEST_F(SplitTest, TellsCallsApartByShapeStridesDtypeAndAttributes) {
  EagerModel model;
  const V x = model.input("x", at::randn({3, 3}));
  const V half = model.input("half", at::randn({3, 3}, at::kHalf));
  const V long_one = model.input("long_one", at::randn({9}));
  model.output(model.calls1("aten.softmax.int", {x, Attribute(0)}));
  model.output(model.calls1("aten.softmax.int", {x, Attribute(1)}));
  model.output(model.calls1("aten.softmax.int", {half, Attribute(0)}));
  model.output(model.calls1("aten.softmax.int", {long_one, Attribute(0)}));
  const V turned = model.calls1("aten.t.default", {x});
  model.output(model.calls1("aten.softmax.int", {turned, Attribute(0)}));
  // The same tensor twice, and two tensors.
  model.output(model.calls1("aten.mul.Tensor", {x, x}));
  model.output(model.calls1("aten.mul.Tensor", {x, model.input("y", at::randn({3, 3}))}));
  split(model);
  EXPECT_THAT(found(), ElementsAre("aten.softmax.int/float32/3x3: model.n0",
                                   "aten.softmax.int/float32/3x3-2: model.n1",
                                   "aten.softmax.int/float16/3x3: model.n2",
                                   "aten.softmax.int/float32/9: model.n3",
                                   "aten.t.default/float32/3x3: model.n4",
                                   "aten.softmax.int/float32/3x3-3: model.n5",
                                   "aten.mul.Tensor/float32/3x3_3x3: model.n6",
                                   "aten.mul.Tensor/float32/3x3_3x3-2: model.n7"));
  EXPECT_EQ(cases_.at(1).info.note, "dim=1");
  EXPECT_THAT(cases_.at(5).content.inputs.at(0).strides(), ElementsAre(1, 3));
}

TEST_F(SplitTest, GivesCallsThatWriteWhatWasThereBefore) {
  EagerModel model;
  const V x = model.input("x", at::randn({4, 6}));
  const V gain = model.weight("gain", at::randn({6}));
  const V product = model.calls1("aten.mul.Tensor", {x, gain});
  const V view = model.calls1("aten.t.default", {product});
  // Writes to the product, by way of its view, and to the input.
  model.calls1("aten.relu_.default", {view});
  model.calls1("aten.add_.Tensor", {x, product});
  model.output(model.calls1("aten.sub.Tensor", {x, product}));
  const at::Tensor x_before = model.inputs[0].clone();
  split(model);
  ASSERT_EQ(cases_.size(), 5u);
  EXPECT_TRUE(same_bits(cases_[2].content.inputs.at(0), model.made.at("n0").t()));
  EXPECT_THAT(cases_[2].content.inputs.at(0).strides(), ElementsAre(1, 6));
  EXPECT_TRUE(same_bits(cases_[3].content.inputs.at(0), x_before));
  EXPECT_TRUE(same_bits(cases_[4].content.inputs.at(0), model.made.at("n3")));
  EXPECT_TRUE(same_bits(model.inputs[0], x_before));
}

TEST_F(SplitTest, KeepsWeightsAndTakesThoseThatAreWrittenToAsInputs) {
  EagerModel model;
  const V x = model.input("x", at::randn({2, 3}));
  const V weight = model.weight("fc.weight", at::randn({4, 3}));
  const V count = model.weight("count", at::randn({2, 4}));
  const V linear = model.calls1("aten.linear.default", {x, weight});
  model.calls1("aten.add_.Tensor", {count, linear});
  model.output(model.calls1("aten.mul.Tensor", {linear, count}));
  split(model);
  ASSERT_EQ(cases_.size(), 3u);
  EXPECT_THAT(cases_[0].content.weights.keys(), ElementsAre("fc.weight"));
  EXPECT_EQ(cases_[0].content.inputs.size(), 1u);
  EXPECT_TRUE(cases_[1].content.weights.is_empty());
  EXPECT_TRUE(same_bits(cases_[1].content.inputs.at(0), model.weights["count"]));
  EXPECT_TRUE(same_bits(cases_[2].content.inputs.at(1), model.made.at("n1")));
}

TEST_F(SplitTest, KeepsHowViewsLie) {
  EagerModel model;
  const V x = model.input("x", at::randn({1, 8}));
  const V wide = model.calls1("aten.expand.default", {x, Attribute::list({5, 8})});
  const V part = model.calls1("aten.slice.Tensor",
                              {wide, Attribute(1), Attribute(1), Attribute(8), Attribute(2)});
  const V scalar = model.calls1("aten.sum.default", {part});
  model.output(model.calls1("aten.exp.default", {scalar}));
  split(model);
  ASSERT_EQ(cases_.size(), 4u);
  EXPECT_THAT(cases_[2].content.inputs.at(0).strides(), ElementsAre(0, 2));
  EXPECT_EQ(cases_[3].info.name, "aten.exp.default/float32/scalar");
}

TEST_F(SplitTest, AsksOnlyForOutputsThatAreRead) {
  EagerModel model;
  const V x = model.input("x", at::randn({2, 7}));
  const std::vector<V> top = model.calls("aten.topk.default", {x, Attribute(3)});
  const std::vector<V> sorted = model.calls("aten.sort.default", {top[0]});
  const std::vector<V> parts = model.calls("aten.split.Tensor", {sorted[1], Attribute(1)});
  model.output(parts[1]);
  split(model);
  ASSERT_EQ(cases_.size(), 3u);
  const char* outputs[] = {"n0_0", "n1_1", "n2_1"};
  for (size_t i = 0; i < cases_.size(); ++i) {
    const Program& program = *cases_[i].content.program;
    EXPECT_THAT(names_of(program, program.outputs), ElementsAre(outputs[i]));
  }
}

TEST_F(SplitTest, TakesListsWithNoneAndOneTensorTwice) {
  EagerModel model;
  const V x = model.input("x", at::randn({4, 6}));
  const V rows = model.input("rows", at::randint(0, 6, {5}, at::kLong));
  const V picked = model.calls1("aten.index.Tensor", {x, VList{std::nullopt, rows}});
  model.output(model.calls1("aten.cat.default", {VList{picked, x, picked}, Attribute(1)}));
  split(model);
  ASSERT_EQ(cases_.size(), 2u);
  EXPECT_EQ(cases_[1].content.inputs.size(), 2u);
}

// Flattens x, of any number of rows, and multiplies it by that number.
IR flatten_any() {
  const TensorMeta x = dynamic("x", {"s0", "3"});
  const TensorMeta flat = dynamic("flat", {"3*s0"});
  const TensorMeta scaled = dynamic("scaled", {"3*s0"});
  IR ir;
  ir.graph_inputs = {x};
  ir.nodes = {
      node("rows", "aten.sym_size.int", {x}, {number("rows")}, {{"dim", 0}}),
      node("count", "_operator.mul", {}, {number("count")}, {{"a", ValueRef{"rows"}}, {"b", 3}}),
      node("flat", "aten.view.default", {x}, {flat},
           {{"size", Attribute::list({ValueRef{"count"}})}}),
      node("scaled", "aten.mul.Tensor", {flat}, {scaled}, {{"other", ValueRef{"rows"}}})};
  ir.graph_outputs = {scaled};
  return ir;
}

TEST_F(SplitTest, FixesSizesAndNumbersAsInTheRun) {
  const Program program = resolve(flatten_any());
  const at::Tensor x = at::rand({5, 3});
  split({.name = "five", .content = Case{.inputs = {x}}.with(program)});
  EXPECT_THAT(found(), ElementsAre("aten.view.default/float32/5x3: five.flat",
                                   "aten.mul.Tensor/float32/15: five.scaled"));
  EXPECT_EQ(cases_.at(0).info.note, "size=[15]");
  EXPECT_EQ(cases_.at(1).info.note, "other=5");
  EXPECT_TRUE(same_bits(cases_.at(1).content.expected.at(0), x.view({15}).mul(5)));
  for (const SuiteCase& it : cases_) {
    expect_alone(it);
    const Program& fixed = *it.content.program;
    EXPECT_THAT(fixed[fixed.user_inputs().at(0)].symbolic_shape, IsEmpty());
  }
  // Other sizes are other calls.
  split({.name = "two", .content = Case{.inputs = {at::rand({2, 3})}}.with(program)});
  EXPECT_EQ(cases_.size(), 4u);
}

TEST_F(SplitTest, HasNoMemoryWithoutValuesAndComparesChoicesByTheirProperty) {
  EagerModel model;
  const V x = model.input("x", at::randn({2, 3}));
  const V memory = model.calls1("aten.empty_like.default", {x});
  const V sum = model.calls1("aten.add.Tensor", {x, memory});
  const std::vector<V> best = model.calls("aten.topk.default", {sum, 2});
  model.output(best[0]);
  model.output(best[1]);
  SplitTest::split(model.model("model"));
  ASSERT_EQ(cases_.size(), 3u);
  EXPECT_EQ(cases_[0].info.property, CaseProperty::kShape);
  EXPECT_TRUE(same_bits(cases_[0].content.expected.at(0), at::zeros({2, 3})));
  EXPECT_TRUE(same_bits(cases_[1].content.inputs.at(1), at::zeros({2, 3})));
  EXPECT_EQ(cases_[1].info.property, CaseProperty::kValues);
  EXPECT_EQ(cases_[2].info.property, CaseProperty::kPickedValues);
}

TEST_F(SplitTest, SharesCallsBetweenModels) {
  EagerModel one;
  const V x = one.input("x", at::randn({3}));
  one.output(one.calls1("aten.exp.default", {one.calls1("aten.sin.default", {x})}));
  EagerModel other;
  const V y = other.input("y", at::randn({3}));
  other.output(other.calls1("aten.cos.default", {other.calls1("aten.sin.default", {y})}));
  split(one, "one");
  other.ir.nodes[0].module = "a.b";
  SplitModel second = other.model("other");
  second.source_lines["n0"] = "f.py:3";
  split(second);
  EXPECT_THAT(found(), ElementsAre("aten.sin.default/float32/3: one.n0 other.n0",
                                   "aten.exp.default/float32/3: one.n1",
                                   "aten.cos.default/float32/3: other.n1"));
  EXPECT_EQ(splitter_.cases()[0].occurrences[1].module, "a.b");
  EXPECT_EQ(splitter_.cases()[0].occurrences[1].source, "f.py:3");
}

// The case of a call that fails was never whole.
TEST_F(SplitTest, KeepsWhatCameBeforeACallThatFails) {
  EagerModel model;
  const V x = model.input("x", at::randn({2, 3}));
  const V relu = model.calls1("aten.relu.default", {x});
  model.output(model.calls1("aten.view.default", {relu, Attribute::list({6})}));
  model.ir.nodes[1].attrs.set("size", Attribute::list({7}));
  EXPECT_THAT([&] { split(model.model("broken")); },
              ThrowsMessage<ExecutionError>(HasSubstr("Node 'n1' (aten.view.default)")));
  EXPECT_THAT(found(), ElementsAre("aten.relu.default/float32/2x3: broken.n0"));
  EXPECT_EQ(cases_.size(), 1u);
}

TEST_F(SplitTest, AGroupIsOneCaseWithTheValuesAtItsBorder) {
  EagerModel graph;
  const V x = graph.input("x", at::rand({2, 4}));
  const V other = graph.input("other", at::rand({2, 4}));
  const auto block = [&](const V& in) {
    const V relu = graph.calls1("aten.relu.default", {in});
    const V cos = graph.calls1("aten.cos.default", {other});
    return graph.calls1("aten.mul.Tensor", {graph.calls1("aten.sin.default", {relu}), cos});
  };
  graph.output(block(block(x)));
  SplitModel model = graph.model("model");
  // Without the cosine between its nodes, which it does not read.
  model.groups = {{"first", {"n0", "n2"}}, {"second", {"n4", "n6"}}};
  split(model);
  EXPECT_THAT(found(),
              ElementsAre("aten.relu.default+aten.sin.default/float32/2x4: model.n2 model.n6",
                          "aten.cos.default/float32/2x4: model.n1 model.n5",
                          "aten.mul.Tensor/float32/2x4_2x4: model.n3 model.n7"));
  const SuiteCase& group = cases_.front();
  expect_alone(group);
  EXPECT_EQ(group.info.note, "group first");
  EXPECT_EQ(group.content.program->nodes.size(), 2);
  EXPECT_EQ(group.content.inputs.size(), 1);
  ASSERT_EQ(group.content.expected.size(), 1);
  EXPECT_TRUE(same_bits(group.content.expected[0], graph.made.at("n2")));
}

TEST_F(SplitTest, TellsOfEachGroupThatDoesNotRunAlone) {
  EagerModel graph;
  const V x = graph.input("x", at::rand({2}));
  for (int i = 0; i < 2; ++i) {
    const V any = graph.call1("aten.empty_like.default", {x});
    graph.output(graph.call1("aten.mul.Tensor", {any, x}));
  }
  SplitModel model = graph.model("model");
  model.groups = {{"a", {"n0", "n1"}}, {"b", {"n2", "n3"}}};
  EXPECT_EQ(splitter_.add(model, [](const SuiteCase&) {}),
            "group 'a' cannot run alone: its values are arbitrary (and 1 more)");
}

}  // namespace
}  // namespace torch_ir
