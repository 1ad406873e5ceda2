#include <ATen/TensorOperators.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <string>

#include "harness/stages/candidate.h"
#include "harness/stages/stages.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/runtime/testing/eager_graph.h"
#include "torch_ir/weights/safetensors.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

// Tests graphs as candidates; the tests of the harness cover archives.
class GraphCandidateTest : public ::testing::Test {
 protected:
  GraphCandidateTest() {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  ~GraphCandidateTest() override { fs::remove_all(directory_); }

  // The files of `graph`, without expected outputs.
  ModelFiles save(const EagerGraph& graph) const {
    ModelFiles files{.format = FileFormat::kGraph,
                     .name = "net",
                     .path = directory_ + "/ir.json",
                     .weights = directory_ + "/weights.safetensors",
                     .inputs = {directory_ + "/inputs.safetensors"}};
    save_ir(graph.ir, files.path);
    save_weights_safetensors(graph.weights, files.weights);
    StateDict inputs;
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      inputs.insert(graph.ir.graph_inputs[i].name, graph.inputs[i]);
    }
    save_weights_safetensors(inputs, files.inputs[0]);
    return files;
  }

  const std::string directory_ = ::testing::TempDir() + "graph_candidate_test";
};

// Writes to an input and to a weight, and returns both.
EagerGraph writing_graph() {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 3}));
  const V y = graph.input("y", at::randn({2, 3}));
  const V count = graph.weight("count", at::ones({3}));
  const V sum = graph.call1("aten.add.Tensor", {x, y});
  graph.call1("aten.add_.Tensor", {x, sum});
  graph.call1("aten.mul_.Tensor", {count, count});
  graph.call1("aten.add_.Tensor", {count, count});
  graph.output(graph.call1("aten.mul.Tensor", {x, count}));
  graph.output(x);
  return graph;
}

TEST_F(GraphCandidateTest, ExpectedIsWhatItsOperatorsCompute) {
  const EagerGraph graph = writing_graph();
  const auto candidate = make_candidate(save(graph), 0);
  // The file does not name it.
  IR with_state = graph.ir;
  with_state.state = {"p_count", "x"};
  EXPECT_EQ(candidate->extract(), with_state);
  EXPECT_TRUE(same_bits(candidate->weights()["count"], graph.weights["count"]));
  EXPECT_EQ(candidate->choose_trials({.trials = 3}), 3);
  const std::vector<at::Tensor> inputs = candidate->inputs(0);
  EXPECT_TRUE(same_bits(inputs.at(1), graph.inputs[1]));
  const std::vector<at::Tensor> expected = candidate->expected(0, inputs);
  ASSERT_EQ(expected.size(), 4u);
  EXPECT_TRUE(same_bits(expected[0], graph.expected()[0]));
  EXPECT_TRUE(same_bits(expected[1], graph.expected()[1]));
  EXPECT_TRUE(same_bits(expected[2], at::ones({3}).mul_(2)));
  EXPECT_TRUE(same_bits(expected[3], graph.expected()[1]));
  EXPECT_TRUE(same_bits(inputs[0], graph.inputs[0]));
  // For other inputs too.
  EXPECT_EQ(candidate->trial_name(0), "normal values");
  EXPECT_EQ(candidate->trial_name(1), "zeros and ones");
  EXPECT_FALSE(same_bits(candidate->inputs(1).at(0), inputs[0]));
}

// Zeros and ones, and large numbers, are no covariances.
TEST_F(GraphCandidateTest, ValuesAtWhichTheModelRaisesAreNotTried) {
  EagerGraph graph;
  const V x = graph.input("x", at::eye(3) * 2);
  graph.output(graph.call1("aten.linalg_cholesky.default", {x}));
  const auto candidate = make_candidate(save(graph), 0);
  candidate->extract();
  EXPECT_EQ(candidate->choose_trials({.trials = 3}), 1);
  ASSERT_EQ(candidate->not_tried().size(), 2u);
  EXPECT_THAT(candidate->not_tried()[0], AllOf(StartsWith("zeros and ones: the model raises "),
                                               HasSubstr("linalg.cholesky: ")));
  EXPECT_THAT(candidate->not_tried()[1], StartsWith("large magnitudes: "));
}

TEST_F(GraphCandidateTest, AFileSaysWhatIsExpected) {
  const EagerGraph graph = writing_graph();
  ModelFiles files = save(graph);
  files.expected = {directory_ + "/expected.safetensors"};
  StateDict expected;
  for (const TensorMeta& output : graph.ir.graph_outputs) {
    expected.insert(output.name, at::ones({2, 3}));
  }
  save_weights_safetensors(expected, files.expected[0]);
  const auto candidate = make_candidate(files, 0);
  candidate->extract();
  EXPECT_EQ(candidate->choose_trials({.trials = 3}), 1);
  EXPECT_TRUE(same_bits(candidate->expected(0, candidate->inputs(0)).at(1), at::ones({2, 3})));
  EXPECT_THAT(candidate->paths(),
              ElementsAre(files.path, files.weights, files.inputs[0], files.expected[0]));
}

TEST_F(GraphCandidateTest, TellsTheValuesThatTheRunWritesTo) {
  const EagerGraph graph = writing_graph();
  const auto candidate = make_candidate(save(graph), 0);
  candidate->extract();
  const std::vector<at::Tensor> inputs = candidate->inputs(0);
  for (int run = 0; run < 2; ++run) {
    std::vector<std::string> names;
    std::map<std::string, at::Tensor> observed;
    std::map<std::string, at::Tensor> copies;
    candidate->observe(inputs, [&](const std::string& name, const at::Tensor& value) {
      names.push_back(name);
      observed[name] = value;
      copies[name] = value.clone();
    });
    EXPECT_THAT(names, ElementsAre("p_count", "x", "y", "n0", "n1", "n2", "n3", "n4"));
    // The values before and after the run.
    EXPECT_TRUE(same_bits(copies["x"], graph.inputs[0]));
    EXPECT_TRUE(same_bits(observed["x"], graph.expected()[1]));
    EXPECT_TRUE(same_bits(copies["p_count"], at::ones({3})));
    EXPECT_TRUE(same_bits(observed["p_count"], at::ones({3}).mul_(2)));
    EXPECT_TRUE(same_bits(copies["n2"], at::ones({3})));
    EXPECT_TRUE(same_bits(copies["n4"], graph.expected()[0]));
    EXPECT_TRUE(same_bits(inputs[0], graph.inputs[0]));
  }
}

// The file has one name of a tied weight, and a prefix. Executors and parts get the graph's names.
TEST_F(GraphCandidateTest, WeightsHaveTheNamesOfTheGraph) {
  EagerGraph graph;
  const at::Tensor weight = at::randn({3});
  const V sum = graph.call1("aten.add.Tensor",
                            {graph.input("x", at::randn({3})), graph.weight("embed.w", weight)});
  graph.output(graph.call1("aten.mul.Tensor", {sum, graph.weight("head.w", weight)}));
  graph.ir.tied_weights = {{"embed.w", "head.w"}};
  graph.weights = StateDict();
  graph.weights.insert("module.head.w", weight);
  const auto candidate = make_candidate(save(graph), 0);
  candidate->extract();
  EXPECT_TRUE(same_bits(candidate->weights()["embed.w"], weight));
  EXPECT_TRUE(same_bits(candidate->weights()["head.w"], weight));
  EXPECT_TRUE(same_bits(candidate->expected(0, candidate->inputs(0)).at(0), graph.expected()[0]));
}

TEST_F(GraphCandidateTest, WeightsGoBeforeLargeConstants) {
  EagerGraph graph;
  const V x = graph.input("x", at::ones({1}));
  const V table = graph.weight("table", at::ones({70'000}) * 2);
  graph.output(graph.call1("aten.mul.Tensor", {x, table}));
  graph.ir.constants.insert("table", at::ones({70'000}));
  const auto candidate = make_candidate(save(graph), 0);
  EXPECT_TRUE(candidate->extract().constants.is_empty());
  EXPECT_TRUE(same_bits(candidate->expected(0, candidate->inputs(0)).at(0), graph.expected()[0]));
}

}  // namespace
}  // namespace torch_ir
