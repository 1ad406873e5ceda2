#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>

#include <limits>
#include <string>

#include "harness/stages/trials.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Program graph_of(std::vector<TensorMeta> inputs, std::vector<SymbolRange> ranges) {
  IR ir;
  ir.graph_outputs = {inputs[0]};
  ir.graph_inputs = std::move(inputs);
  ir.range_constraints = std::move(ranges);
  return resolve(ir);
}

std::vector<std::string> names_of(const std::vector<TrialInputs>& trials) {
  std::vector<std::string> names;
  for (const TrialInputs& trial : trials) names.push_back(trial.name);
  return names;
}

TEST(SizeTrialsTest, EndsOfRangesAndASizeBetween) {
  const Program graph = graph_of({dynamic("x", {"s0", "3"})}, {{"s0", 2, 5}});
  EXPECT_THAT(names_of(size_trials(graph, {at::ones({4, 3})})),
              ElementsAre("s0 = 2", "s0 = 3", "s0 = 5"));
  EXPECT_THAT(names_of(size_trials(graph, {at::ones({3, 3})})), ElementsAre("s0 = 2", "s0 = 5"));
  EXPECT_THAT(size_trials(graph_of({dynamic("x", {"2", "3"})}, {}), {at::ones({2, 3})}), IsEmpty());
}

TEST(SizeTrialsTest, WithoutALimitSizesAreAtMostTwiceTheExample) {
  const Program graph = graph_of({dynamic("x", {"s0", "s1"})}, {{"s1", 1, std::nullopt}});
  const at::Tensor x = at::arange(12).to(at::kFloat).view({6, 2});
  const std::vector<TrialInputs> trials = size_trials(graph, {x});
  // The example itself is between.
  ASSERT_THAT(names_of(trials), ElementsAre("s0 = 1, s1 = 1", "s0 = 12, s1 = 4"));
  // The values of the example, again and again.
  EXPECT_TRUE(trials[1].inputs[0].slice(0, 6).slice(1, 2).equal(x));
}

TEST(SizeTrialsTest, GuardsAndDerivedSizesAreKeptTo) {
  Program graph = graph_of({dynamic("x", {"2*s0", "3"}), dynamic("y", {"s0"})}, {{"s0", 1, 16}});
  graph.guards = {"x.size()[0] % 4 == 0"};
  const std::vector<TrialInputs> trials = size_trials(graph, {at::ones({8, 3}), at::ones({4})});
  ASSERT_THAT(names_of(trials), ElementsAre("s0 = 2", "s0 = 8", "s0 = 16"));
  EXPECT_EQ(trials[0].inputs[0].sizes(), (at::IntArrayRef{4, 3}));
  EXPECT_EQ(trials[0].inputs[1].sizes(), at::IntArrayRef{2});
}

// Offsets into x: their order, and the size of x, limit them.
TEST(SizeTrialsTest, NumbersInOrderStayInOrderAndInside) {
  const Program graph = graph_of({dynamic("x", {"s0"}), dynamic("offsets", {"s1"}, "int64")},
                                 {{"s0", 3, 20}, {"s1", 2, 8}});
  const at::Tensor offsets = at::tensor({0, 4, 4, 10}, at::kLong);
  const std::vector<TrialInputs> trials = size_trials(graph, {at::ones({10}), offsets});
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_EQ(trials[0].name, "s0 = 3, s1 = 2");
  EXPECT_TRUE(trials[0].inputs[1].equal(at::tensor({0, 3}, at::kLong)));
  EXPECT_TRUE(trials[1].inputs[1].equal(at::tensor({0, 0, 4, 4, 10}, at::kLong)));
  EXPECT_TRUE(trials[2].inputs[1].equal(at::tensor({0, 0, 0, 4, 4, 4, 4, 10}, at::kLong)));
  // What they do not count may be greater.
  const at::Tensor times = at::tensor({500, 11, 11, 11}, at::kLong);
  EXPECT_TRUE(size_trials(graph, {at::ones({10}), times})[0].inputs[1].equal(
      at::tensor({500, 11}, at::kLong)));
}

// Their bytes cannot even be counted.
TEST(SizeTrialsTest, EndsThatNeedMuchMemoryAreNotTried) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const Program graph =
      graph_of({dynamic("x", {"s0", "s1"})}, {{"s0", 1, kMost}, {"s1", 2, 1'000}});
  EXPECT_THAT(names_of(size_trials(graph, {at::ones({8, 3})})),
              ElementsAre("s0 = 1, s1 = 2", "s0 = 8, s1 = 4", "s0 = 16, s1 = 6"));
}

}  // namespace
}  // namespace torch_ir
