#include "torch_ir/weights/graph_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>

#include <algorithm>

#include "torch_ir/base/testing/warning_texts.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Names = std::vector<std::string>;

IR graph_with(const Names& names) {
  IR ir;
  for (const std::string& name : names) {
    ir.weights.push_back({.name = name, .shape = {1}, .dtype = "float32"});
    ir.weight_name_mapping.insert("p_" + name, name);
  }
  return ir;
}

StateDict weights_with(const Names& names) {
  StateDict weights;
  for (const std::string& name : names) weights.insert(name, torch::rand({1}));
  return weights;
}

class GraphNamesTest : public ::testing::Test {
 protected:
  static Names renamed(const Names& graph, const Names& weights) {
    return with_graph_names(weights_with(weights), resolve(graph_with(graph))).keys();
  }

  WarningTexts warnings_;
};

TEST_F(GraphNamesTest, AWeightOfTwoPlaceholdersCountsOnce) {
  Program program = resolve(graph_with({"a", "b"}));
  const GraphInput a = *std::ranges::find(program.inputs, "a", &GraphInput::target);
  program.inputs.push_back(a);
  EXPECT_THAT(with_graph_names(weights_with({"a", "_orig_mod.b"}), program).keys(),
              ElementsAre("a", "b"));
}

TEST_F(GraphNamesTest, APrefixOfAllWeightsIsLeftOut) {
  EXPECT_THAT(renamed({"fc.w", "fc.b"}, {"module.fc.w", "module.fc.b"}),
              ElementsAre("fc.w", "fc.b"));
  EXPECT_THAT(renamed({"fc.w", "b"}, {"module._orig_mod.fc.w", "module._orig_mod.b"}),
              ElementsAre("fc.w", "b"));
  EXPECT_THAT(warnings_.texts,
              ElementsAre("The names of the weights begin with 'module.', those of the graph do "
                          "not; it is left out",
                          "The names of the weights begin with 'module._orig_mod.', those of the "
                          "graph do not; it is left out"));
}

TEST_F(GraphNamesTest, APrefixOfTheWholeGraphIsAdded) {
  EXPECT_THAT(renamed({"model.fc.w", "model.fc.b"}, {"fc.w", "fc.b"}),
              ElementsAre("model.fc.w", "model.fc.b"));
  EXPECT_THAT(warnings_.texts,
              ElementsAre("The names of the graph begin with 'model.', those of the weights do "
                          "not; it is added"));
}

TEST_F(GraphNamesTest, WrappersInsideOfNamesAreLeftOutOrAdded) {
  EXPECT_THAT(renamed({"fc.w", "body.0.w"}, {"fc.w", "body._orig_mod.0._fsdp_wrapped_module.w"}),
              ElementsAre("fc.w", "body.0.w"));
  EXPECT_THAT(renamed({"fc.w", "body._orig_mod.0.w"}, {"fc.w", "body.0.w"}),
              ElementsAre("fc.w", "body._orig_mod.0.w"));
  // Names of the user, and two values for one.
  EXPECT_THAT(renamed({"fc.w", "a.b"}, {"fc.w", "a.my_orig_mod.b"}),
              ElementsAre("fc.w", "a.my_orig_mod.b"));
  EXPECT_THAT(renamed({"a.w", "b"}, {"a.w", "a._orig_mod.w"}), ElementsAre("a.w", "a._orig_mod.w"));
  EXPECT_THAT(renamed({"a._orig_mod.w", "a.w"}, {"a.w"}), ElementsAre("a.w"));
  EXPECT_THAT(renamed({"a.w", "b"}, {"a._orig_mod.w", "_orig_mod.a.w", "b"}),
              ElementsAre("a.w", "_orig_mod.a.w", "b"));
  EXPECT_THAT(warnings_.texts,
              Contains("The names of 1 weight differ from the graph's by wrappers such as "
                       "'_orig_mod'; they fit without"));
}

// Most names decide; what is missing then is an error by its own name.
TEST_F(GraphNamesTest, SomeNamesMayBeLeft) {
  EXPECT_THAT(renamed({"fc.w", "fc.b", "scale"}, {"model.fc.w", "model.fc.b", "loss.w"}),
              ElementsAre("fc.w", "fc.b", "loss.w"));
  EXPECT_THAT(renamed({"fc.w", "fc.b", "head.w"}, {"model.fc.w", "model.fc.b", "head.w"}),
              ElementsAre("fc.w", "fc.b", "head.w"));
  EXPECT_THAT(renamed({"model.fc.w", "model.fc.b", "head.w"}, {"fc.w", "fc.b", "head.w"}),
              ElementsAre("model.fc.w", "model.fc.b", "head.w"));
}

TEST_F(GraphNamesTest, NamesThatFitStayAsTheyAre) {
  EXPECT_THAT(renamed({"w", "fc.w"}, {"w", "model.fc.w"}), ElementsAre("w", "model.fc.w"));
  EXPECT_THAT(renamed({"w"}, {"p_w", "model.w"}), ElementsAre("p_w", "model.w"));
  EXPECT_THAT(renamed({"a.w", "b.w", "c.w"}, {"x.a.w"}), ElementsAre("x.a.w"));
  // Which of the two?
  EXPECT_THAT(renamed({"w"}, {"student.w", "teacher.w"}), ElementsAre("student.w", "teacher.w"));
  EXPECT_THAT(warnings_.texts, IsEmpty());
}

TEST_F(GraphNamesTest, ATiedWeightIsThereByAllNamesOfTheGraph) {
  IR ir = graph_with({"embed.w", "head.w"});
  ir.tied_weights = {{"embed.w", "head.w", "unused.w"}};
  for (const char* name : {"embed.w", "head.w", "unused.w", "model.head.w"}) {
    const StateDict given = weights_with({name});
    const StateDict weights = with_graph_names(given, resolve(ir));
    for (const char* other : {"embed.w", "head.w"}) {
      ASSERT_TRUE(weights.contains(other)) << name;
      EXPECT_TRUE(weights[other].is_same(given[name])) << name;
    }
  }
}

TEST_F(GraphNamesTest, EqualValuesOfATiedWeightAreOneTensor) {
  IR ir = graph_with({"a", "b"});
  ir.tied_weights = {{"a", "b"}};
  StateDict weights = {{"a", torch::tensor({NAN, 1.F})}};
  weights.insert("b", weights["a"].clone());
  StateDict named = with_tied_names(weights, ir.tied_weights);
  EXPECT_TRUE(named["b"].is_same(named["a"]));
  weights["b"] = torch::tensor({NAN, 2.F});
  named = with_tied_names(weights, ir.tied_weights);
  EXPECT_TRUE(named["b"].is_same(weights["b"]));
}

TEST(TiedNamesTest, TiedWeightsShareAllTheirElements) {
  torch::nn::Linear shared(2, 2);
  torch::nn::Sequential model(shared, torch::nn::Linear(2, 2), shared);
  EXPECT_THAT(tied_names(state_dict(*model)),
              ElementsAre(ElementsAre("0.weight", "2.weight"), ElementsAre("0.bias", "2.bias")));
  StateDict views = {{"whole", torch::ones({2, 2})}};
  views.insert("turned", views["whole"].t());
  views.insert("row", views["whole"][1]);
  views.insert("bits", views["whole"].view(torch::kInt));
  views.insert("empty", torch::ones({0}));
  views.insert("nothing", views["empty"]);
  EXPECT_THAT(tied_names(views), IsEmpty());
}

}  // namespace
}  // namespace torch_ir
