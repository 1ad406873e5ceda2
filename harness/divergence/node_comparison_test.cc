#include "harness/divergence/node_comparison.h"

#include <c10/util/ThreadLocalDebugInfo.h>
#include <gmock/gmock.h>

#include "harness/divergence/testing/explanation_fixture.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using NodeComparisonTest = ExplanationTest;

// Also where values are written in place, and where weights share memory.
TEST_F(NodeComparisonTest, FindsNothingWhereAllAgrees) {
  EditingBackend backend(nothing);
  for (const RegisteredModel& model : {mlp(), counter(), tied()}) {
    const Explanation explanation = explain_model(model, backend, /*failed=*/false);
    EXPECT_EQ(explanation.nodes.error, "");
    EXPECT_EQ(explanation.nodes.note, "");
    EXPECT_EQ(explanation.nodes.num_compared, std::ssize(ir_.nodes));
    EXPECT_THAT(explanation.nodes.worst, IsEmpty());
    EXPECT_FALSE(explanation.reproducer);
    EXPECT_FALSE(fs::exists(directory_));
  }
}

at::Tensor tell_nothing(const std::string& /*name*/, const at::Tensor& /*value*/) { return {}; }

// Computes each of the last two layers of a perceptron at once, the last one wrongly.
class FusingBackend : public EditingBackend {
 public:
  explicit FusingBackend(Tell tell)
      : EditingBackend(replace("tanh_2", "aten.sigmoid.default"), std::move(tell)) {}

  std::vector<at::Tensor> run(const Case& graph_case) override {
    const Program& program = *graph_case.program;
    const auto is_inside = [&](ValueId output) { return program[output].name == "linear_2"; };
    // Outputs are not fused.
    const bool is_fused = std::ranges::none_of(program.outputs, is_inside);
    return is_fused ? EditingBackend::run(graph_case) : PlanBackend::run(graph_case);
  }
  std::vector<NodeGroup> groups() const override { return all; }

  std::vector<NodeGroup> all = {{"layer_1", {"tanh_1", "linear_1"}},
                                {"layer_2", {"linear_2", "tanh_2"}}};
};

TEST_F(NodeComparisonTest, NamesTheFirstGroupThatDivergesAndCutsAtItsBorder) {
  FusingBackend backend(hide({"tanh", "linear_1", "linear_2"}));
  settings_.backend = "chip";
  prepare(mlp());
  ExplainedRun run = run_of(candidate_->expected(0, inputs_));
  run.groups = backend.all;
  const Explanation explanation = explain(run, backend, /*failed=*/true);
  const NodeReport& nodes = explanation.nodes;
  EXPECT_EQ(nodes.groups.size(), 2u);
  EXPECT_EQ(nodes.num_inside, 2);
  EXPECT_EQ(nodes.num_compared, 3);
  EXPECT_EQ(nodes.num_not_handed_back, 1);
  ASSERT_TRUE(nodes.first_divergence);
  EXPECT_EQ(nodes.first_divergence->node.node, "tanh_2");
  EXPECT_EQ(nodes.first_divergence->node.group, "layer_2");
  EXPECT_EQ(nodes.first_divergence->node.index, 5);
  EXPECT_EQ(nodes.first_divergence->inputs.at(0).name, "tanh_1");
  // The tanh alone fails too.
  EXPECT_EQ(part_of(explanation), "linear_2 to tanh_2, 2 nodes");
  EXPECT_FALSE(replay(backend).is_valid);
}

TEST_F(NodeComparisonTest, KeepsGroupsWholeWhereItAsksForValuesAsOutputs) {
  FusingBackend backend(tell_nothing);
  prepare(mlp());
  ExplainedRun run = run_of(candidate_->expected(0, inputs_));
  EXPECT_FALSE(explain(run, backend, /*failed=*/true).nodes.first_divergence);
  run.groups = backend.all;
  const NodeReport nodes = explain(run, backend, /*failed=*/true).nodes;
  ASSERT_TRUE(nodes.first_divergence) << nodes.note;
  EXPECT_EQ(nodes.first_divergence->node.group, "layer_2");
  EXPECT_THAT(nodes.note, HasSubstr("ran with those at the borders of groups as outputs."));
}

TEST_F(NodeComparisonTest, BringsValuesIntoTheFormOfTheGraph) {
  const auto tell = [](const std::string& name, const at::Tensor& value) {
    if (name == "tanh_1") {
      return at::constant_pad_nd(value.t(), {1, 0, 0, 3}, 7).to(c10::kBFloat16);
    }
    // Quantises in steps of 1/64, with zero point 10.
    if (name == "tanh") return value.mul(64).round().add(10).to(c10::kChar);
    return value;
  };
  EditingBackend plain(nothing, tell);
  FusingBackend backend(tell);
  prepare(mlp());
  ExplainedRun run = run_of(candidate_->expected(0, inputs_));
  EXPECT_EQ(explain(run, plain, /*failed=*/false).nodes.num_mismatched, 2);
  backend.all[0].values = {
      {.name = "tanh_1", .permutation = {1, 0}, .padding = {{0, 3}, {1, 0}}, .dtype = "bfloat16"}};
  backend.all.push_back({"layer_0",
                         {"linear", "tanh"},
                         {{.name = "tanh", .dtype = "int8", .scale = 1.0 / 64, .zero_point = 10}}});
  run.groups = backend.all;
  NodeReport nodes = explain(run, backend, /*failed=*/false).nodes;
  EXPECT_EQ(nodes.num_compared, 3);
  EXPECT_EQ(nodes.num_mismatched, 1);
  EXPECT_EQ(nodes.first_divergence->node.node, "tanh_2");
  backend.all[2].values[0].zero_point = 11;
  EXPECT_EQ(explain(run, backend, /*failed=*/false).nodes.num_mismatched, 2);
  backend.all[0].values[0].padding[1] = {9, 0};
  nodes = explain(run, backend, /*failed=*/false).nodes;
  EXPECT_THAT(nodes.error, HasSubstr("'tanh_1' was returned with size 3 in dimension 1, less "
                                     "than its padding of 9 and 0"));
}

TEST_F(NodeComparisonTest, NamesTheFirstNodeThatDiverges) {
  EditingBackend backend(replace("tanh_1", "aten.sigmoid.default"));
  const Explanation explanation = explain_model(mlp(), backend);
  const NodeReport& nodes = explanation.nodes;
  ASSERT_TRUE(nodes.first_divergence);
  EXPECT_EQ(nodes.first_divergence->node.node, "tanh_1");
  EXPECT_EQ(nodes.first_divergence->node.index, 3);
  EXPECT_EQ(nodes.first_divergence->node.op_type, "aten.tanh.default");
  EXPECT_THAT(nodes.first_divergence->inputs,
              ElementsAre(Field(&TensorStatistics::name, "linear_1")));
  EXPECT_LT(nodes.first_divergence->expected.min, 0);
  EXPECT_GT(nodes.first_divergence->actual.min, 0);
  EXPECT_EQ(nodes.num_compared, 6);
  EXPECT_EQ(nodes.num_mismatched, 1);
  EXPECT_EQ(nodes.num_right_locally, 2);
  EXPECT_EQ(nodes.worst.size(), 3U);
  // Captured modules are known by their weights.
  EXPECT_THAT(nodes.worst, Contains(AllOf(Field(&ValueDetail::node, "linear_2"),
                                          Field(&ValueDetail::module, "fc2"))));

  EXPECT_EQ(part_of(explanation), "tanh_1 to tanh_1, 1 node");
  EXPECT_EQ(explanation.reproducer.value().command, "harness --ir . --rtol 1.3e-06 --atol 1e-05");
  EXPECT_THAT(explanation.reproducer.value().message, HasSubstr("'tanh_1': "));
  EXPECT_TRUE(is_fault_of(backend));
}

TEST_F(NodeComparisonTest, TellsBothSidesTheSameRandomNumbers) {
  EditingBackend backend(nothing);
  const RegisteredModel model = callable(
      [](torch::Tensor x) { return torch::bernoulli(torch::sigmoid(x)) + torch::rand_like(x); },
      {32});
  const Explanation agreeing = explain_model(model, backend, /*failed=*/false);
  EXPECT_EQ(agreeing.nodes.error, "");
  EXPECT_EQ(agreeing.nodes.num_mismatched, 0);

  EditingBackend wrong(replace("sigmoid", "aten.tanh.default"));
  EXPECT_EQ(first_wrong(explain_model(model, wrong)), "sigmoid");
}

TEST_F(NodeComparisonTest, SaysWhatTheBackendThrew) {
  EditingBackend backend(change("view", "size", Attribute::list({7})));
  const RegisteredModel model =
      callable([](torch::Tensor x) { return torch::relu(x).view({4}) + 1; }, {2, 2});
  const Explanation explanation = explain_model(model, backend);
  EXPECT_THAT(explanation.nodes.error, HasSubstr("the graph could not be run: Node 'view'"));
  EXPECT_EQ(explanation.nodes.num_compared, 1);
  EXPECT_EQ(part_of(explanation), "view to view, 1 node");
  EXPECT_THAT(explanation.reproducer.value().message, HasSubstr("Node 'view'"));
}

TEST_F(NodeComparisonTest, SaysWhereTheModelPartsFromItsGraph) {
  EditingBackend backend(nothing);
  const RegisteredModel model = callable(
      [](torch::Tensor x) {
        const torch::Tensor y = torch::relu(x);
        return y.is_meta() ? torch::neg(y) : torch::exp(y);
      },
      {4});
  const Explanation explanation = explain_model(model, backend);
  EXPECT_THAT(explanation.nodes.error,
              HasSubstr("node 1 of the graph is 'neg' (aten.neg.default), but the model calls "
                        "'exp' (aten.exp.default)"));
  // No part can get the model's values as inputs, but the whole graph can.
  ASSERT_TRUE(explanation.reproducer);
  EXPECT_EQ(explanation.reproducer->num_nodes, 2);
  EXPECT_THAT(explanation.nodes.note,
              HasSubstr("no smaller part of it fails by itself: on these inputs the model does not "
                        "call the operators of its graph: node 1 of the graph is 'neg'"));
  EXPECT_FALSE(replay(backend).is_valid);
}

std::vector<std::string> names_of(const std::vector<ValueDetail>& details) {
  std::vector<std::string> names;
  for (const ValueDetail& detail : details) names.push_back(detail.value);
  return names;
}

TEST_F(NodeComparisonTest, ValuesThatAreToldWronglyDoNotHideWhatMakesTheOutputsWrong) {
  const at::Tensor wrong_values[] = {torch::zeros({2, 2}), torch::full({2, 8}, 3.0)};
  for (const at::Tensor& wrong : wrong_values) {
    EditingBackend backend(replace("tanh_1", "aten.sigmoid.default"),
                           [&](const std::string& name, const at::Tensor& value) {
                             return name == "linear" ? wrong : value;
                           });
    const Explanation explanation = explain_model(mlp(), backend);
    EXPECT_EQ(first_wrong(explanation), "tanh_1");
    EXPECT_THAT(names_of(explanation.nodes.exonerated), ElementsAre("linear"));
    EXPECT_EQ(explanation.nodes.num_mismatched, 2);
    EXPECT_EQ(part_of(explanation), "tanh_1 to tanh_1, 1 node");
    EXPECT_EQ(explanation.nodes.note, "");
    EXPECT_FALSE(replay(backend).is_valid);
  }
}

// The value of neg is returned as relu leaves it, and relu would compute the same from it; that of
// mul is not what mul_ reads.
TEST_F(NodeComparisonTest, ExoneratesWhatDoesNotReachItsReaders) {
  EditingBackend backend(replace("sigmoid", "aten.tanh.default"),
                         [](const std::string& name, const at::Tensor& value) {
                           if (name == "neg") return value.relu();
                           return name == "mul" ? value + 0.01 : value;
                         });
  const RegisteredModel model = callable(
      [](torch::Tensor x) {
        return torch::sigmoid(torch::relu(-x) + (x * 10).mul_(0.001).clone());
      },
      {64});
  // If nothing failed, neg may be wrong and relu may hide it.
  for (const bool failed : {true, false}) {
    const NodeReport nodes = explain_model(model, backend, failed).nodes;
    const std::vector<std::string> names = names_of(nodes.exonerated);
    EXPECT_THAT(names, Contains("mul"));
    EXPECT_EQ(names.size(), failed ? 2 : 1);
    EXPECT_EQ(nodes.first_divergence.value().node.value, failed ? "sigmoid" : "neg");
  }
}

// Behind a node that rounds, right values may differ from the model's by steps of 0.001.
RegisteredModel rounding_model() {
  return callable(
      [](torch::Tensor x) {
        const torch::Tensor steps = torch::round(torch::sin(x) * 65536) * 0.001;
        return torch::relu(torch::cos(steps));
      },
      {64, 64});
}

// Rounds otherwise than the model, as a sum in another order would, and changes something else.
Edit otherwise_and(const Edit& edit) {
  return [=](IR& ir) {
    change("mul", "other", Attribute(65536 * (1 + 1e-7)))(ir);
    edit(ir);
  };
}

struct RoundingCase {
  Edit edit;
  Tell tell;
  std::string wrong;
  std::vector<std::string> only_returned_wrong;
};

TEST_F(NodeComparisonTest, JudgesValuesBehindARoundingByTheirOwnNodes) {
  const auto times = [](const std::string& wrong, double factor) {
    return [=](const std::string& name, const at::Tensor& value) {
      return name == wrong ? value * factor : value;
    };
  };
  const auto edited = [](const char* name, const char* op_type) {
    return otherwise_and(replace(name, op_type));
  };
  const Edit otherwise = otherwise_and(nothing);
  const Edit scaled = otherwise_and(change("mul_1", "other", Attribute(0.00101)));
  const RoundingCase cases[] = {
      {otherwise, nullptr, "", {}},
      {edited("cos", "aten.sin.default"), nullptr, "cos", {}},
      {edited("round_1", "aten.floor.default"), nullptr, "round_1", {}},
      {scaled, nullptr, "mul_1", {}},
      {otherwise, times("cos", 3), "", {"cos"}},
      {otherwise, times("mul_1", 1.01), "", {"mul_1"}},
      // A node that reads a value that was not returned is judged together with those before it.
      {otherwise, hide({"mul_1"}), "", {}},
      {edited("cos", "aten.sin.default"), hide({"mul_1"}), "cos", {}},
      {otherwise, hide({"sin", "mul", "round_1"}), "", {}},
      {scaled, hide({"sin", "mul", "round_1"}), "mul_1", {}},
  };
  for (const RoundingCase& it : cases) {
    EditingBackend backend(it.edit, it.tell);
    const NodeReport nodes = explain_model(rounding_model(), backend, /*failed=*/false).nodes;
    EXPECT_EQ(nodes.error, "");
    EXPECT_EQ(nodes.first_divergence ? nodes.first_divergence->node.value : "", it.wrong);
    EXPECT_EQ(names_of(nodes.exonerated), it.only_returned_wrong);
    const int64_t num_wrong = std::ssize(it.only_returned_wrong) + (it.wrong.empty() ? 0 : 1);
    EXPECT_EQ(nodes.num_mismatched, num_wrong);
    EXPECT_GT(nodes.num_right_locally, 0);
    EXPECT_EQ(nodes.num_not_judged, 0);
  }
}

TEST_F(NodeComparisonTest, RunsTheWholeGraphWhereNoValuesAreHandedBack) {
  const Edit wrong = replace("tanh_1", "aten.sigmoid.default");
  SilentBackend silent(wrong);
  EditingBackend mute(wrong, tell_nothing);
  settings_.executor = "sim";
  const RegisteredModel model = mlp();
  for (EditingBackend* backend : {static_cast<EditingBackend*>(&silent), &mute}) {
    for (const bool failed : {true, false}) {
      const Explanation explanation = explain_model(model, *backend, failed);
      EXPECT_EQ(explanation.nodes.note,
                backend == &mute
                    ? "The executor returned no values of nodes; to see them, the graph ran with "
                      "all of them as outputs."
                    : "To see the values, the graph ran with all of them as outputs.");
      EXPECT_EQ(explanation.nodes.num_compared, 6);
      EXPECT_EQ(explanation.nodes.num_skipped, 0);
      EXPECT_EQ(first_wrong(explanation), "tanh_1");
      EXPECT_EQ(explanation.reproducer.has_value(), failed);
    }
  }
}

TEST_F(NodeComparisonTest, SaysThatTheFirstDifferenceMayLieWhereNoValuesAre) {
  EditingBackend backend(replace("tanh_1", "aten.sigmoid.default"), hide({"linear", "tanh_1"}));
  settings_.backend = "chip";
  const Explanation explanation = explain_model(mlp(), backend);
  ASSERT_TRUE(explanation.nodes.first_divergence);
  const Divergence& divergence = *explanation.nodes.first_divergence;
  EXPECT_EQ(divergence.node.node, "linear_2");
  EXPECT_EQ(explanation.nodes.note,
            "2 of the values before this difference were not returned ('linear', 'tanh_1'), so the "
            "first difference may be earlier.");
  ASSERT_EQ(divergence.inputs.size(), 3U);
  EXPECT_EQ(divergence.inputs[0].name, "tanh_1");
  EXPECT_EQ(divergence.inputs[0].dtype, "");
  EXPECT_EQ(divergence.inputs[1].dtype, "float32");
  EXPECT_EQ(part_of(explanation), "tanh_1 to tanh_1, 1 node");
}

TEST_F(NodeComparisonTest, TakesTheToleranceOfAnOutput) {
  EditingBackend backend(change("add", "other", Attribute(1.01)));
  const RegisteredModel model = callable([](torch::Tensor x) { return torch::relu(x) + 1; }, {4});
  settings_.tolerance = {.fixed = {.rtol = 0.5, .atol = 0.5}};
  EXPECT_FALSE(explain_model(model, backend, /*failed=*/false).nodes.first_divergence);
  settings_.tolerance.outputs[0] = {.rtol = 0, .atol = 1e-3};
  const Explanation explanation = explain_model(model, backend);
  EXPECT_TRUE(explanation.nodes.first_divergence);
  ASSERT_TRUE(explanation.reproducer);
  EXPECT_THAT(explanation.reproducer->command, HasSubstr("--rtol 0 --atol 0.001"));
}

// Counts the memory that LibTorch's CPU allocator holds.
class MemoryCounter : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void* /*pointer*/, int64_t size, size_t /*allocated*/, size_t /*reserved*/,
                         c10::Device /*device*/) override {
    alive_ += size;
    peak_ = std::max(peak_, alive_);
  }
  bool memoryProfilingEnabled() const override { return true; }
  int64_t peak() const { return peak_; }

 private:
  int64_t alive_ = 0;
  int64_t peak_ = 0;
};

TEST_F(NodeComparisonTest, TakesTheMemoryOfAFewValuesHoweverManyThereAre) {
  // 30 layers of small weights; a value takes 2 MiB.
  const std::vector<int64_t> shape = {1 << 15, 16};
  const int64_t value_bytes = shape[0] * shape[1] * 4;
  prepare(mlp(shape, 30));
  EditingBackend backend(nothing);
  const auto counter = std::make_shared<MemoryCounter>();
  Explanation explanation;
  {
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, counter);
    explanation = explain(run_of({}), backend, /*failed=*/false);
  }
  EXPECT_EQ(explanation.nodes.num_compared, 60);
  EXPECT_GT(counter->peak(), value_bytes);
  // A run of a plan keeps 64 MiB of the 120. In the float64 run each value takes twice as much.
  constexpr int64_t kKept = int64_t{64} << 20;
  EXPECT_LT(counter->peak(), kKept + 14 * value_bytes);
}

}  // namespace
}  // namespace torch_ir
