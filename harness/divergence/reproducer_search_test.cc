#include <gmock/gmock.h>

#include "harness/backend/command_backend.h"
#include "harness/divergence/testing/explanation_fixture.h"
#include "torch_ir/weights/safetensors.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

using ReproducerSearchTest = ExplanationTest;

TEST_F(ReproducerSearchTest, ReproducersHaveTheWeightsThatTheyUse) {
  EditingBackend backend([](IR& ir) {
    if (OpNode* node = find_node(ir, "linear_2")) node->inputs.pop_back();
  });
  const Explanation explanation = explain_model(mlp(), backend);
  EXPECT_EQ(part_of(explanation), "linear_2 to linear_2, 1 node");
  EXPECT_THAT(load_weights_safetensors(directory_ + "/weights.safetensors").keys(),
              ::testing::UnorderedElementsAre("fc2.weight", "fc2.bias"));
  EXPECT_FALSE(replay(backend).is_valid);
}

// The sum lies between two numbers of float32; float64 accepts both, as another machine's.
TEST_F(ReproducerSearchTest, JudgesAsTheRunOfTheModel) {
  prepare(callable([](const at::Tensor& x) { return x + 0.98 * 0x1p-24; }, {4}));
  settings_.tolerance = {.fixed = kExactTolerance};
  PlanBackend backend{ExecutionOptions()};
  const auto failure = [&](double expected) {
    return check_on(backend)(case_of({at::ones({4})}, {at::full({4}, expected)}), settings_);
  };
  EXPECT_FALSE(failure(1 + 0x1p-23));
  ASSERT_TRUE(failure(1.01));
  EXPECT_THAT(failure(1.01)->message, HasSubstr("the graph does not match the model"));
}

TEST_F(ReproducerSearchTest, FindsNodesThatAreWrongOnlyTogether) {
  WrongTogetherBackend backend(replace_beside("linear_1", "tanh_1", "aten.sigmoid.default"));
  const Explanation explanation = explain_model(mlp({2, 8}, 4), backend);
  EXPECT_EQ(first_wrong(explanation), "tanh_1");
  EXPECT_THAT(explanation.nodes.note,
              HasSubstr("The node values that the execution plan returned agree. The values below "
                        "come from runs of the whole graph."));
  EXPECT_EQ(part_of(explanation), "linear_1 to tanh_1, 2 nodes");
  EXPECT_FALSE(replay(backend).is_valid);
}

// More outputs make this backend right, as they keep others from fusing.
TEST_F(ReproducerSearchTest, FindsWhatIsWrongOnlyWithTheOutputsThatTheGraphHas) {
  const Edit wrong = replace_beside("tanh_1", "tanh_2", "aten.sigmoid.default");
  WrongTogetherBackend backend([&](IR& ir) {
    const bool is_inside = std::ranges::any_of(ir.graph_outputs, [](const TensorMeta& output) {
      return output.name == "linear_2" || output.name == "linear_1";
    });
    if (!is_inside) wrong(ir);
  });
  const Explanation explanation = explain_model(mlp({2, 8}, 5), backend);
  EXPECT_EQ(first_wrong(explanation), "");
  EXPECT_EQ(part_of(explanation), "tanh_1 to tanh_2, 3 nodes");
  EXPECT_THAT(explanation.nodes.note,
              HasSubstr("The fault disappears when every value is an output, so the values do not "
                        "show it. The reproducer does."));
}

TEST_F(ReproducerSearchTest, CutsPartsThatAreGivenWhatWasWrittenInPlace) {
  EditingBackend backend(replace("sigmoid", "aten.tanh.default"));
  const Explanation explanation = explain_model(counter(), backend);
  ASSERT_EQ(first_wrong(explanation), "sigmoid");
  // The value that sigmoid reads was made by mul and written to since.
  ASSERT_EQ(explanation.nodes.first_divergence->inputs.size(), 1U);
  EXPECT_EQ(explanation.nodes.first_divergence->inputs[0].min, 0);
  EXPECT_EQ(part_of(explanation), "sigmoid to sigmoid, 1 node");
  EXPECT_TRUE(is_fault_of(backend));
}

TEST_F(ReproducerSearchTest, KeepsNodesThatWriteToWhatIsRead) {
  // Wrong only when the view and a reader of its memory run together.
  WrongTogetherBackend backend(replace_beside("relu_", "sigmoid", "aten.tanh.default"));
  const Explanation explanation = explain_model(counter(), backend);
  // relu_ and sigmoid share memory, so neither can run without the other.
  EXPECT_EQ(part_of(explanation), "view to sigmoid, 3 nodes");
  EXPECT_TRUE(is_fault_of(backend));
}

TEST_F(ReproducerSearchTest, TheSmallestPartSoFarIsTheReproducerAndTheModelRunsOnceForAll) {
  WrongTogetherBackend backend(replace_beside("tanh_1", "tanh_3", "aten.sigmoid.default"));
  int num_runs = 0;
  prepare(callable(
      [&](at::Tensor x) {
        ++num_runs;
        for (int i = 0; i < 8; ++i) x = at::tanh(at::neg(x));
        return x;
      },
      {4}));
  const ExplainedRun run = run_of(candidate_->expected(0, inputs_));
  const ExplainedGraph graph(run);
  // Without any part, the whole graph is the reproducer.
  for (const auto& [num_parts, num_nodes] : {std::pair(100, 5), {2, 8}, {0, 16}}) {
    num_runs = 0;
    const ReproducerSearch found = find_reproducer(
        {.graph = graph,
         .check = check_on(backend),
         .should_stop = [most = num_parts, num = 0]() mutable { return num++ >= most; }});
    ASSERT_TRUE(found.reproducer) << found.note;
    EXPECT_EQ(found.reproducer->num_nodes, num_nodes);
    EXPECT_EQ(found.note,
              num_parts == 100 ? "" : "The search was cut short, so a smaller part may fail too");
    if (num_parts < 100) continue;
    EXPECT_EQ(found.reproducer->first_node, "tanh_1");
    EXPECT_EQ(found.reproducer->last_node, "tanh_3");
    EXPECT_EQ(num_runs, 1);
  }
}

TEST_F(ReproducerSearchTest, TheWholeGraphReproducesWhatNoPartOfItDoes) {
  EditingBackend backend(nothing);
  prepare(mlp());
  const Tensors other = {candidate_->expected(0, inputs_).at(0) + 0.25};
  const Explanation explanation = explain(run_of(other), backend, /*failed=*/true);
  EXPECT_EQ(explanation.nodes.num_mismatched, 0);
  EXPECT_EQ(part_of(explanation), "linear to tanh_2, 6 nodes");
  EXPECT_EQ(
      explanation.nodes.note,
      "All node values agree with the model's, but the outputs differ from the expected ones. The "
      "reproducer is the whole graph, since no smaller part of it fails by itself.");
  EXPECT_EQ(explanation.reproducer.value().command, "harness --ir .");
  EXPECT_THAT(explanation.reproducer.value().message, HasSubstr("max abs. error 0.25"));
  const VerificationReport again = replay(backend);
  EXPECT_FALSE(again.is_valid);
  EXPECT_THAT(again.error_message, HasSubstr("max abs. error 0.25"));
}

TEST_F(ReproducerSearchTest, OutputsThatNoNodeMakesWrongAreNotTriedOneByOne) {
  int num_runs = 0;
  EditingBackend backend([&](IR&) { ++num_runs; });
  prepare(mlp());
  ir_.graph_outputs.clear();
  for (const OpNode& node : ir_.nodes) ir_.graph_outputs.push_back(node.outputs.at(0));
  const Tensors other(ir_.graph_outputs.size(), at::zeros({1}));
  const Explanation explanation = explain(run_of(other), backend, /*failed=*/true);
  ASSERT_TRUE(explanation.reproducer) << explanation.nodes.note;
  EXPECT_EQ(explanation.reproducer->num_nodes, 6);
  EXPECT_LT(num_runs, 6);
}

TEST_F(ReproducerSearchTest, TheWholeGraphReproducesWhatDrawsRandomNumbers) {
  SilentBackend backend(replace("rand_like", "aten.ones_like.default"));
  settings_.seed = 3;
  const Explanation explanation = explain_model(
      callable([](torch::Tensor x) { return torch::rand_like(x) + torch::relu(x); }, {32}),
      backend);
  ASSERT_TRUE(explanation.reproducer) << explanation.nodes.note;
  EXPECT_EQ(explanation.reproducer->num_nodes, 3);
  EXPECT_EQ(explanation.reproducer->command, "harness --ir . --seed 3");
  EXPECT_EQ(explanation.nodes.first_divergence.value().node.problem,
            "outside the tolerance; judged by the tolerance alone: node 'rand_like' "
            "(aten.rand_like.default) draws "
            "random numbers");
  EXPECT_THAT(explanation.nodes.note,
              HasSubstr("by itself: node 'rand_like' draws random numbers"));
  PlanBackend right{ExecutionOptions()};
  at::manual_seed(3);
  EXPECT_TRUE(replay(right).is_valid);
  at::manual_seed(3);
  EXPECT_FALSE(replay(backend).is_valid);
}

TEST_F(ReproducerSearchTest, SaysThatAFailureDidNotComeAgain) {
  const RegisteredModel model = mlp();
  for (const bool throws : {false, true}) {
    int num_runs = 0;
    SilentBackend backend([&](IR&) {
      if (num_runs++ == 0 && throws) throw ExecutionError("out of luck");
    });
    const Explanation explanation = explain_model(model, backend);
    EXPECT_FALSE(explanation.reproducer);
    EXPECT_THAT(
        explanation.nodes.note,
        ::testing::EndsWith(" No reproducer: the graph failed once, but not when it ran again on "
                            "the same inputs."));
    EXPECT_EQ(explanation.nodes.num_mismatched, 0);
    EXPECT_FALSE(fs::exists(directory_));
  }
}

TEST_F(ReproducerSearchTest, APartFailsAsItsGraphDoes) {
  const auto more_outputs = [](IR& ir) {
    if (find_node(ir, "linear_1") != nullptr) ir.graph_outputs.push_back(ir.graph_outputs.back());
  };
  // A part that does not run says nothing about wrong values: this rejects other outputs.
  const auto wrong_or_rejected = [](IR& ir) {
    for (const TensorMeta& output : ir.graph_outputs) {
      if (output.name != "tanh_2") throw ExecutionError("no output '" + output.name + "' here");
    }
    replace("tanh_2", "aten.sigmoid.default")(ir);
  };
  const auto rejected_or_wrong = [](IR& ir) {
    if (find_node(ir, "linear_2") != nullptr) throw ExecutionError("no linear_2 here");
    replace("tanh", "aten.sigmoid.default")(ir);
  };
  // A part that the executor rejects is not a smaller part of a graph that crashes it.
  const auto crashed_or_rejected = [](IR& ir) {
    CommandEnd end{.description = "exited with status 2"};
    if (find_node(ir, "linear") != nullptr) {
      if (find_node(ir, "tanh_1") == nullptr) return;
      end = {.has_crashed = true, .description = "was killed by signal 11 (Segmentation fault)"};
    }
    throw CommandFailure("The executor " + end.description, end);
  };
  struct Failure {
    Edit edit;
    std::string part;
    std::string message;
  };
  const Failure failures[] = {
      {more_outputs, "linear_1 to linear_1, 1 node", "2 outputs, expected 1"},
      {wrong_or_rejected, "tanh_2 to tanh_2, 1 node", "'tanh_2': "},
      {rejected_or_wrong, "linear_2 to linear_2, 1 node", "no linear_2 here"},
      {crashed_or_rejected, "linear to tanh_1, 4 nodes",
       "The executor was killed by signal 11 (Segmentation fault)"},
  };
  for (const Failure& it : failures) {
    SilentBackend backend(it.edit);
    const Explanation explanation = explain_model(mlp(), backend);
    EXPECT_EQ(part_of(explanation), it.part);
    EXPECT_THAT(explanation.reproducer.value().message, HasSubstr(it.message));
  }
}

TEST_F(ReproducerSearchTest, NotesAreSentences) {
  std::string note;
  for (const char* sentence : {"", "No reproducer: why", "The reproducer could not be written."}) {
    add_sentence(note, sentence);
  }
  EXPECT_EQ(note, "No reproducer: why. The reproducer could not be written.");
}

}  // namespace
}  // namespace torch_ir
