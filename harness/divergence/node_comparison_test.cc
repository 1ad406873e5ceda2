#include "torch_ir/harness/divergence/node_comparison.h"

#include <c10/util/ThreadLocalDebugInfo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/harness/backend/plan_backend.h"
#include "torch_ir/harness/divergence/reproducer.h"
#include "torch_ir/verifier/verify.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

// --- Models ---

struct MlpImpl : torch::nn::Module {
  explicit MlpImpl(int64_t num_layers = 3, int64_t width = 8) {
    for (int64_t i = 0; i < num_layers; ++i) {
      layers.push_back(register_module("fc" + std::to_string(i), torch::nn::Linear(width, width)));
    }
  }
  torch::Tensor forward(torch::Tensor x) {
    for (auto& layer : layers) x = torch::tanh(layer(x));
    return x;
  }
  std::vector<torch::nn::Linear> layers;
};
TORCH_MODULE(Mlp);

struct CounterImpl : torch::nn::Module {
  CounterImpl() { count = register_buffer("count", torch::zeros({4})); }
  torch::Tensor forward(torch::Tensor x) {
    count.add_(1);
    torch::Tensor scaled = x * count;
    torch::Tensor view = scaled.view({2, 2});
    view.relu_();
    return torch::sigmoid(scaled) + count;
  }
  torch::Tensor count;
};
TORCH_MODULE(Counter);

using Tensors = std::vector<torch::Tensor>;

RegisteredModel registered(std::function<Model()> make, std::vector<int64_t> shape,
                           double low = -1) {
  return {.name = "Model",
          .spec = {.inputs = {{.name = "x", .shape = std::move(shape), .low = low}},
                   .categories = {"test"}},
          .make = std::move(make)};
}

RegisteredModel callable(std::function<torch::Tensor(torch::Tensor)> forward,
                         std::vector<int64_t> shape, double low = -1) {
  const ModelFn model = [forward = std::move(forward)](const Tensors& inputs) {
    return Tensors{forward(inputs.at(0))};
  };
  return registered([model] { return Model(model); }, std::move(shape), low);
}

// --- Backends ---

OpNode* find_node(IR& ir, const std::string& name) {
  const auto node = std::ranges::find(ir.nodes, name, &OpNode::name);
  return node == ir.nodes.end() ? nullptr : &*node;
}

// Runs other graphs than it is given.
class EditingBackend : public PlanBackend {
 public:
  explicit EditingBackend(std::function<void(IR&)> edit)
      : PlanBackend(ExecutionOptions()), edit_(std::move(edit)) {}

  std::vector<at::Tensor> run(const IR& ir, const StateDict& weights,
                              const std::vector<at::Tensor>& inputs) override {
    return PlanBackend::run(edited(ir), weights, inputs);
  }
  std::unique_ptr<NodeValues> values(const IR& ir, const StateDict& weights,
                                     const std::vector<at::Tensor>& inputs) override {
    return PlanBackend::values(edited(ir), weights, inputs);
  }

 protected:
  IR edited(IR ir) const {
    edit_(ir);
    return ir;
  }

 private:
  std::function<void(IR&)> edit_;
};

// The same, and tells no values.
class SilentBackend : public EditingBackend {
 public:
  using EditingBackend::EditingBackend;
  std::unique_ptr<NodeValues> values(const IR&, const StateDict&,
                                     const std::vector<at::Tensor>&) override {
    return nullptr;
  }
};

// Tells other values than those that it computed: what `tell` makes of them.
class TellingBackend : public EditingBackend {
 public:
  using Tell = std::function<at::Tensor(const std::string&, const at::Tensor&)>;
  TellingBackend(std::function<void(IR&)> edit, Tell tell)
      : EditingBackend(std::move(edit)), tell_(std::move(tell)) {}

  std::unique_ptr<NodeValues> values(const IR& ir, const StateDict& weights,
                                     const std::vector<at::Tensor>& inputs) override {
    return std::make_unique<Told>(EditingBackend::values(ir, weights, inputs), tell_);
  }

 private:
  class Told : public NodeValues {
   public:
    Told(std::unique_ptr<NodeValues> values, Tell tell)
        : values_(std::move(values)), tell_(std::move(tell)) {}
    at::Tensor next(const std::string& name) override { return tell_(name, values_->next(name)); }

   private:
    std::unique_ptr<NodeValues> values_;
    Tell tell_;
  };

  Tell tell_;
};

TellingBackend::Tell hide(const std::set<std::string>& names) {
  return [=](const std::string& name, const at::Tensor& value) {
    return names.contains(name) ? at::Tensor() : value;
  };
}

// Wrong, or at an end, in its first run only.
class FlakyBackend : public SilentBackend {
 public:
  explicit FlakyBackend(bool throws = false) : SilentBackend([](IR&) {}), throws_(throws) {}
  std::vector<at::Tensor> run(const IR& ir, const StateDict& weights,
                              const std::vector<at::Tensor>& inputs) override {
    std::vector<at::Tensor> outputs = SilentBackend::run(ir, weights, inputs);
    if (num_runs_++ > 0) return outputs;
    if (throws_) throw ExecutionError("out of luck");
    for (at::Tensor& output : outputs) output = output + 1;
    return outputs;
  }

 private:
  bool throws_;
  int num_runs_ = 0;
};

// Takes no graphs with other outputs than `output`.
class ParticularBackend : public SilentBackend {
 public:
  ParticularBackend(std::function<void(IR&)> edit, std::string output)
      : SilentBackend(std::move(edit)), output_(std::move(output)) {}
  std::vector<at::Tensor> run(const IR& ir, const StateDict& weights,
                              const std::vector<at::Tensor>& inputs) override {
    for (const TensorMeta& output : ir.graph_outputs) {
      if (output.name != output_) throw ExecutionError("no output '" + output.name + "' here");
    }
    return SilentBackend::run(ir, weights, inputs);
  }

 private:
  std::string output_;
};

// Runs other graphs than it is given, but tells the values of those.
class WrongTogetherBackend : public EditingBackend {
 public:
  using EditingBackend::EditingBackend;
  std::unique_ptr<NodeValues> values(const IR& ir, const StateDict& weights,
                                     const std::vector<at::Tensor>& inputs) override {
    return PlanBackend::values(ir, weights, inputs);
  }
};

void nothing(IR& /*ir*/) {}

// Node `name` is another operator of one argument.
std::function<void(IR&)> replace(const std::string& name, const std::string& op_type) {
  return [=](IR& ir) {
    if (OpNode* node = find_node(ir, name)) node->op_type = op_type;
  };
}

// --- The test ---

class NodeComparisonTest : public ::testing::Test {
 protected:
  NodeComparisonTest() {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    directory_ = ::testing::TempDir() + "/node_comparison_" + name;
    fs::remove_all(directory_);
  }

  Explanation explain_model(const RegisteredModel& model, Backend& backend, bool failed = true) {
    candidate_ = make_candidate(model, /*seed=*/0);
    ir_ = candidate_->extract();
    inputs_ = candidate_->inputs(0);
    return explain(*candidate_, ir_, candidate_->weights(), inputs_, expected_by(backend), backend,
                   settings_, failed, directory_);
  }

  // What the run is compared with that is explained: nothing where it ends with an error.
  std::vector<at::Tensor> expected_by(Backend& backend) {
    try {
      backend.run(ir_, candidate_->weights(), inputs_);
    } catch (const Error&) {
      return {};
    }
    at::manual_seed(settings_.seed);
    return candidate_->expected(inputs_);
  }

  // Runs the files of the reproducer on `backend`.
  VerificationReport replay(Backend& backend) {
    const IR ir = IR::load(directory_ + "/ir.json");
    StateDict weights;
    if (fs::exists(directory_ + "/weights.safetensors")) {
      weights = load_weights_safetensors(directory_ + "/weights.safetensors");
    }
    const auto inputs = read_inputs(directory_ + "/inputs.safetensors", ir);
    const auto expected = read_expected(directory_ + "/expected.safetensors", ir);
    return compare_outputs(backend.run(ir, weights, inputs), expected, {}, settings_.tolerance);
  }

  RunSettings settings_;
  std::string directory_;
  std::unique_ptr<Candidate> candidate_;
  IR ir_;
  std::vector<at::Tensor> inputs_;
};

TEST_F(NodeComparisonTest, FindsNothingWhereAllAgrees) {
  EditingBackend backend(nothing);
  const Explanation explanation =
      explain_model(registered([] { return Model(Mlp()); }, {2, 8}), backend, /*failed=*/false);
  EXPECT_EQ(explanation.nodes.error, "");
  EXPECT_EQ(explanation.nodes.note, "");
  EXPECT_EQ(explanation.nodes.num_compared, 6);
  EXPECT_EQ(explanation.nodes.num_skipped, 0);
  EXPECT_FALSE(explanation.nodes.first_divergence);
  EXPECT_THAT(explanation.nodes.worst, IsEmpty());
  EXPECT_FALSE(explanation.reproducer);
  EXPECT_FALSE(fs::exists(directory_));
}

TEST_F(NodeComparisonTest, NamesTheFirstNodeThatDiverges) {
  EditingBackend backend(replace("tanh_1", "aten.sigmoid.default"));
  const Explanation explanation =
      explain_model(registered([] { return Model(Mlp()); }, {2, 8}), backend);
  const NodeReport& nodes = explanation.nodes;
  ASSERT_TRUE(nodes.first_divergence);
  EXPECT_EQ(nodes.first_divergence->node.node, "tanh_1");
  EXPECT_EQ(nodes.first_divergence->node.index, 3);
  EXPECT_EQ(nodes.first_divergence->node.op_type, "aten.tanh.default");
  ASSERT_EQ(nodes.first_divergence->inputs.size(), 1U);
  EXPECT_EQ(nodes.first_divergence->inputs[0].name, "linear_1");
  EXPECT_LT(nodes.first_divergence->expected.min, 0);
  EXPECT_GT(nodes.first_divergence->actual.min, 0);
  EXPECT_EQ(nodes.num_compared, 6);
  EXPECT_EQ(nodes.num_mismatched, 3);
  EXPECT_EQ(nodes.worst.size(), 3U);
  EXPECT_EQ(nodes.error, "");

  ASSERT_TRUE(explanation.reproducer);
  EXPECT_EQ(explanation.reproducer->num_nodes, 1);
  EXPECT_EQ(explanation.reproducer->first_node, "tanh_1");
  EXPECT_EQ(explanation.reproducer->last_node, "tanh_1");
  EXPECT_EQ(explanation.reproducer->command,
            "torch-ir verify ir.json --inputs inputs.safetensors --expected expected.safetensors "
            "--rtol 0.0001 --atol 0.0001");
  EXPECT_THAT(explanation.reproducer->message, HasSubstr("'tanh_1': "));
  EXPECT_FALSE(replay(backend).is_valid);
  PlanBackend right{ExecutionOptions()};
  EXPECT_TRUE(replay(right).is_valid);
}

TEST_F(NodeComparisonTest, ReproducersHaveTheWeightsThatTheyUse) {
  EditingBackend backend([](IR& ir) {
    if (OpNode* node = find_node(ir, "linear_2")) node->inputs.pop_back();
  });
  const Explanation explanation =
      explain_model(registered([] { return Model(Mlp()); }, {2, 8}), backend);
  ASSERT_TRUE(explanation.reproducer);
  EXPECT_EQ(explanation.reproducer->first_node, "linear_2");
  EXPECT_EQ(explanation.reproducer->num_nodes, 1);
  EXPECT_THAT(explanation.reproducer->command, HasSubstr("--weights weights.safetensors"));
  EXPECT_THAT(load_weights_safetensors(directory_ + "/weights.safetensors").keys(),
              ::testing::UnorderedElementsAre("fc2.weight", "fc2.bias"));
  EXPECT_FALSE(replay(backend).is_valid);
}

TEST_F(NodeComparisonTest, FindsNodesThatAreWrongOnlyTogether) {
  WrongTogetherBackend backend([](IR& ir) {
    OpNode* tanh = find_node(ir, "tanh_1");
    if (tanh != nullptr && find_node(ir, "linear_1") != nullptr) {
      tanh->op_type = "aten.sigmoid.default";
    }
  });
  const Explanation explanation =
      explain_model(registered([] { return Model(Mlp(4)); }, {2, 8}), backend);
  ASSERT_TRUE(explanation.nodes.first_divergence);
  EXPECT_EQ(explanation.nodes.first_divergence->node.node, "tanh_1");
  EXPECT_THAT(explanation.nodes.note, HasSubstr("The nodes agree when they run one by one."));
  ASSERT_TRUE(explanation.reproducer);
  EXPECT_EQ(explanation.reproducer->num_nodes, 2);
  EXPECT_EQ(explanation.reproducer->first_node, "linear_1");
  EXPECT_EQ(explanation.reproducer->last_node, "tanh_1");
  EXPECT_FALSE(replay(backend).is_valid);
}

// Further outputs keep this backend from being wrong, as they keep others from fusing.
TEST_F(NodeComparisonTest, FindsWhatIsWrongOnlyWithTheOutputsThatTheGraphHas) {
  WrongTogetherBackend backend([](IR& ir) {
    OpNode* tanh = find_node(ir, "tanh_2");
    const bool is_inside = std::ranges::any_of(ir.graph_outputs, [](const TensorMeta& output) {
      return output.name == "linear_2" || output.name == "linear_1";
    });
    if (tanh != nullptr && find_node(ir, "tanh_1") != nullptr && !is_inside) {
      tanh->op_type = "aten.sigmoid.default";
    }
  });
  const Explanation explanation =
      explain_model(registered([] { return Model(Mlp(5)); }, {2, 8}), backend);
  EXPECT_FALSE(explanation.nodes.first_divergence);
  ASSERT_TRUE(explanation.reproducer) << explanation.nodes.note;
  EXPECT_EQ(explanation.reproducer->num_nodes, 3);
  EXPECT_EQ(explanation.reproducer->first_node, "tanh_1");
  EXPECT_EQ(explanation.reproducer->last_node, "tanh_2");
}

TEST_F(NodeComparisonTest, ComparesBackendsThatOnlyRunWholeGraphs) {
  SilentBackend backend(replace("tanh_1", "aten.sigmoid.default"));
  const Explanation explanation =
      explain_model(registered([] { return Model(Mlp()); }, {2, 8}), backend);
  ASSERT_TRUE(explanation.nodes.first_divergence);
  EXPECT_EQ(explanation.nodes.first_divergence->node.node, "tanh_1");
  ASSERT_EQ(explanation.nodes.first_divergence->inputs.size(), 1U);
  EXPECT_EQ(explanation.nodes.num_compared, 6);
  EXPECT_EQ(explanation.nodes.num_skipped, 0);
  EXPECT_THAT(explanation.nodes.note,
              HasSubstr("To see the values, the graph ran with all of them as outputs."));
  ASSERT_TRUE(explanation.reproducer);
  EXPECT_EQ(explanation.reproducer->num_nodes, 1);
}

TEST_F(NodeComparisonTest, NamesWhereNanAndInfinityFirstAppear) {
  EditingBackend backend(nothing);
  const Explanation explanation = explain_model(
      callable([](torch::Tensor x) { return torch::exp(torch::log(x) + 1) / torch::zeros({1}); },
               {64}),
      backend, /*failed=*/false);
  EXPECT_EQ(explanation.nodes.error, "");
  ASSERT_TRUE(explanation.nodes.first_nan);
  EXPECT_EQ(explanation.nodes.first_nan->node, "log");
  EXPECT_TRUE(explanation.nodes.first_nan->is_expected);
  ASSERT_TRUE(explanation.nodes.first_inf);
  EXPECT_EQ(explanation.nodes.first_inf->op_type, "aten.div.Tensor");
  EXPECT_FALSE(explanation.nodes.first_divergence);
}

TEST_F(NodeComparisonTest, NamesNanThatTheModelDoesNotHave) {
  EditingBackend backend(replace("exp", "aten.log.default"));
  const Explanation explanation =
      explain_model(callable([](torch::Tensor x) { return torch::exp(x) + 1; }, {64}), backend);
  ASSERT_TRUE(explanation.nodes.first_nan);
  EXPECT_EQ(explanation.nodes.first_nan->node, "exp");
  EXPECT_FALSE(explanation.nodes.first_nan->is_expected);
  ASSERT_TRUE(explanation.nodes.first_divergence);
  EXPECT_GT(explanation.nodes.first_divergence->actual.num_nan, 0);
  EXPECT_EQ(explanation.nodes.first_divergence->expected.num_nan, 0);
}

TEST_F(NodeComparisonTest, ComparesWhatIsWrittenInPlaceAsItWasThen) {
  EditingBackend backend(nothing);
  const RegisteredModel model = registered([] { return Model(Counter()); }, {4});
  const Explanation explanation = explain_model(model, backend, /*failed=*/false);
  EXPECT_EQ(explanation.nodes.error, "");
  EXPECT_EQ(explanation.nodes.num_compared, static_cast<int64_t>(ir_.nodes.size()));
  EXPECT_EQ(explanation.nodes.num_mismatched, 0);
  EXPECT_THAT(explanation.nodes.worst, IsEmpty());
}

TEST_F(NodeComparisonTest, CutsPartsThatAreGivenWhatWasWrittenInPlace) {
  EditingBackend backend(replace("sigmoid", "aten.tanh.default"));
  const RegisteredModel model = registered([] { return Model(Counter()); }, {4});
  const Explanation explanation = explain_model(model, backend);
  ASSERT_TRUE(explanation.nodes.first_divergence);
  EXPECT_EQ(explanation.nodes.first_divergence->node.node, "sigmoid");
  // What sigmoid reads was made by mul and written to since.
  ASSERT_EQ(explanation.nodes.first_divergence->inputs.size(), 1U);
  EXPECT_EQ(explanation.nodes.first_divergence->inputs[0].min, 0);
  ASSERT_TRUE(explanation.reproducer) << explanation.nodes.note;
  EXPECT_EQ(explanation.reproducer->num_nodes, 1);
  EXPECT_FALSE(replay(backend).is_valid);
  PlanBackend right{ExecutionOptions()};
  EXPECT_TRUE(replay(right).is_valid);
}

TEST_F(NodeComparisonTest, KeepsNodesThatWriteToWhatIsRead) {
  // Wrong only when the view and what reads its memory run together.
  WrongTogetherBackend backend([](IR& ir) {
    OpNode* sigmoid = find_node(ir, "sigmoid");
    if (sigmoid != nullptr && find_node(ir, "relu_") != nullptr) {
      sigmoid->op_type = "aten.tanh.default";
    }
  });
  const RegisteredModel model = registered([] { return Model(Counter()); }, {4});
  const Explanation explanation = explain_model(model, backend);
  ASSERT_TRUE(explanation.reproducer) << explanation.nodes.note;
  // Neither relu_ nor sigmoid can be given what they share apart from one another.
  EXPECT_EQ(explanation.reproducer->num_nodes, 3);
  EXPECT_EQ(explanation.reproducer->first_node, "view");
  EXPECT_EQ(explanation.reproducer->last_node, "sigmoid");
  EXPECT_FALSE(replay(backend).is_valid);
  PlanBackend right{ExecutionOptions()};
  EXPECT_TRUE(replay(right).is_valid);
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
  const Explanation explanation = explain_model(model, wrong);
  ASSERT_TRUE(explanation.nodes.first_divergence);
  EXPECT_EQ(explanation.nodes.first_divergence->node.node, "sigmoid");
}

TEST_F(NodeComparisonTest, SaysWhatTheBackendThrew) {
  EditingBackend backend([](IR& ir) {
    if (OpNode* node = find_node(ir, "view")) node->attrs.set("size", Attribute::list({7}));
  });
  const RegisteredModel model =
      callable([](torch::Tensor x) { return torch::relu(x).view({4}) + 1; }, {2, 2});
  const Explanation explanation = explain_model(model, backend);
  EXPECT_THAT(explanation.nodes.error, HasSubstr("the graph could not be run: Node 'view'"));
  EXPECT_EQ(explanation.nodes.num_compared, 1);
  ASSERT_TRUE(explanation.reproducer) << explanation.nodes.note;
  EXPECT_EQ(explanation.reproducer->num_nodes, 1);
  EXPECT_EQ(explanation.reproducer->first_node, "view");
  EXPECT_THAT(explanation.reproducer->message, HasSubstr("Node 'view'"));
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
              HasSubstr("node 1 of the graph is 'neg' (aten.neg.default), the model calls 'exp' "
                        "(aten.exp.default) there"));
  // No part can be given what the model computes, but the whole graph can.
  ASSERT_TRUE(explanation.reproducer);
  EXPECT_EQ(explanation.reproducer->num_nodes, 2);
  EXPECT_THAT(explanation.nodes.note,
              HasSubstr("no smaller part of it fails by itself: on these inputs the model calls "
                        "other operators than its graph has: node 1 of the graph is 'neg'"));
  EXPECT_FALSE(replay(backend).is_valid);
}

TEST_F(NodeComparisonTest, ValuesThatAreToldWronglyDoNotHideWhatMakesTheOutputsWrong) {
  TellingBackend backend(replace("tanh_1", "aten.sigmoid.default"),
                         [](const std::string& name, const at::Tensor& value) {
                           return name == "linear" ? torch::zeros({2, 2}) : value;
                         });
  const Explanation explanation =
      explain_model(registered([] { return Model(Mlp()); }, {2, 8}), backend);
  ASSERT_TRUE(explanation.nodes.first_divergence);
  EXPECT_EQ(explanation.nodes.first_divergence->node.node, "linear");
  ASSERT_TRUE(explanation.reproducer) << explanation.nodes.note;
  EXPECT_EQ(explanation.reproducer->num_nodes, 1);
  EXPECT_EQ(explanation.reproducer->first_node, "tanh_1");
  EXPECT_EQ(explanation.nodes.note,
            "No part of the graph that ends with 'linear' fails by itself. The reproducer makes an "
            "output wrong.");
  EXPECT_FALSE(replay(backend).is_valid);
}

TEST_F(NodeComparisonTest, SaysThatNoValuesWereHandedBack) {
  TellingBackend backend(replace("tanh_1", "aten.sigmoid.default"),
                         [](const std::string&, const at::Tensor&) { return at::Tensor(); });
  settings_.executor = "sim";
  const RegisteredModel model = registered([] { return Model(Mlp()); }, {2, 8});
  for (const bool failed : {true, false}) {
    const Explanation explanation = explain_model(model, backend, failed);
    EXPECT_EQ(explanation.nodes.note,
              "The executor handed back no values of nodes; to see them, the graph ran with all of "
              "them as outputs.");
    EXPECT_EQ(explanation.nodes.num_compared, 6);
    ASSERT_TRUE(explanation.nodes.first_divergence);
    EXPECT_EQ(explanation.nodes.first_divergence->node.node, "tanh_1");
    EXPECT_EQ(explanation.reproducer.has_value(), failed);
  }
}

TEST_F(NodeComparisonTest, SaysThatTheFirstDifferenceMayLieWhereNoValuesAre) {
  TellingBackend backend(replace("tanh_1", "aten.sigmoid.default"), hide({"linear", "tanh_1"}));
  settings_.backend = "chip";
  const Explanation explanation =
      explain_model(registered([] { return Model(Mlp()); }, {2, 8}), backend);
  ASSERT_TRUE(explanation.nodes.first_divergence);
  const Divergence& divergence = *explanation.nodes.first_divergence;
  EXPECT_EQ(divergence.node.node, "linear_2");
  EXPECT_EQ(explanation.nodes.note,
            "2 of the values before the difference shown were not handed back ('linear', "
            "'tanh_1'): the first one may be there.");
  ASSERT_EQ(divergence.inputs.size(), 3U);
  EXPECT_EQ(divergence.inputs[0].name, "tanh_1");
  EXPECT_EQ(divergence.inputs[0].dtype, "");
  EXPECT_EQ(divergence.inputs[1].dtype, "float32");
  ASSERT_TRUE(explanation.reproducer);
  EXPECT_EQ(explanation.reproducer->first_node, "tanh_1");
  EXPECT_EQ(explanation.reproducer->num_nodes, 1);
}

TEST_F(NodeComparisonTest, SaysThatValuesThatWereHandedBackAgree) {
  TellingBackend backend(replace("tanh_1", "aten.sigmoid.default"),
                         hide({"tanh_1", "linear_2", "tanh_2"}));
  settings_.executor = "sim";
  const Explanation explanation =
      explain_model(registered([] { return Model(Mlp()); }, {2, 8}), backend);
  ASSERT_TRUE(explanation.nodes.first_divergence);
  EXPECT_EQ(explanation.nodes.first_divergence->node.node, "tanh_1");
  EXPECT_EQ(explanation.nodes.note,
            "The values of nodes that the executor handed back agree. These are the values of runs "
            "of the whole graph.");
}

TEST_F(NodeComparisonTest, TheWholeGraphReproducesWhatNoPartOfItDoes) {
  EditingBackend backend(nothing);
  candidate_ = make_candidate(registered([] { return Model(Mlp()); }, {2, 8}), /*seed=*/0);
  ir_ = candidate_->extract();
  inputs_ = candidate_->inputs(0);
  const Tensors other = {candidate_->expected(inputs_).at(0) + 0.25};
  const Explanation explanation = explain(*candidate_, ir_, candidate_->weights(), inputs_, other,
                                          backend, settings_, /*failed=*/true, directory_);
  EXPECT_EQ(explanation.nodes.num_mismatched, 0);
  ASSERT_TRUE(explanation.reproducer);
  EXPECT_EQ(
      explanation.nodes.note,
      "All values of nodes agree with those of the model, but the outputs are not what was "
      "expected of them. The reproducer is the whole graph, since no smaller part of it fails "
      "by itself.");
  EXPECT_EQ(explanation.reproducer->num_nodes, 6);
  EXPECT_EQ(explanation.reproducer->first_node, "linear");
  EXPECT_EQ(explanation.reproducer->last_node, "tanh_2");
  EXPECT_EQ(explanation.reproducer->command, "harness --ir . --rtol 0.0001 --atol 0.0001");
  EXPECT_THAT(explanation.reproducer->message, HasSubstr("max diff 0.25"));
  const VerificationReport again = replay(backend);
  EXPECT_FALSE(again.is_valid);
  EXPECT_THAT(again.error_message, HasSubstr("max diff 0.25"));
}

TEST_F(NodeComparisonTest, TheWholeGraphReproducesWhatDrawsRandomNumbers) {
  SilentBackend backend(replace("rand_like", "aten.ones_like.default"));
  settings_.seed = 3;
  const Explanation explanation = explain_model(
      callable([](torch::Tensor x) { return torch::rand_like(x) + torch::relu(x); }, {32}),
      backend);
  ASSERT_TRUE(explanation.reproducer) << explanation.nodes.note;
  EXPECT_EQ(explanation.reproducer->num_nodes, 3);
  EXPECT_EQ(explanation.reproducer->command, "harness --ir . --rtol 0.0001 --atol 0.0001 --seed 3");
  EXPECT_THAT(explanation.nodes.note,
              HasSubstr("by itself: node 'rand_like' draws random numbers"));
  PlanBackend right{ExecutionOptions()};
  at::manual_seed(3);
  EXPECT_TRUE(replay(right).is_valid);
  at::manual_seed(3);
  EXPECT_FALSE(replay(backend).is_valid);
}

TEST_F(NodeComparisonTest, SaysThatAFailureDidNotComeAgain) {
  const RegisteredModel model = registered([] { return Model(Mlp()); }, {2, 8});
  for (const bool throws : {false, true}) {
    FlakyBackend backend(throws);
    const Explanation explanation = explain_model(model, backend);
    EXPECT_FALSE(explanation.reproducer);
    EXPECT_THAT(
        explanation.nodes.note,
        ::testing::EndsWith(" No reproducer: the graph failed once, and did not when it ran "
                            "again on the same inputs."));
    EXPECT_EQ(explanation.nodes.num_mismatched, 0);
    EXPECT_FALSE(fs::exists(directory_));
  }
}

// A part that does not run says nothing of values that are wrong.
TEST_F(NodeComparisonTest, TakesNoErrorOfAPartForAWrongValue) {
  ParticularBackend backend(replace("tanh_2", "aten.sigmoid.default"), "tanh_2");
  const Explanation explanation =
      explain_model(registered([] { return Model(Mlp()); }, {2, 8}), backend);
  EXPECT_THAT(explanation.nodes.error, HasSubstr("no output 'linear' here"));
  ASSERT_TRUE(explanation.reproducer) << explanation.nodes.note;
  EXPECT_EQ(explanation.reproducer->first_node, "tanh_2");
  EXPECT_EQ(explanation.reproducer->num_nodes, 1);
  EXPECT_THAT(explanation.reproducer->message, HasSubstr("'tanh_2': "));
}

TEST_F(NodeComparisonTest, TheWholeGraphIsAReproducerAlsoWhenNothingIsKnownOfItsOutputs) {
  candidate_ = make_candidate(registered([] { return Model(Mlp()); }, {2, 8}), /*seed=*/0);
  ir_ = candidate_->extract();
  settings_.executor = "sim {ir}";
  const ReproducerSearch found =
      whole_graph_reproducer(ir_, candidate_->weights(), candidate_->inputs(2), /*expected=*/{},
                             settings_, "It crashed.", directory_);
  EXPECT_EQ(found.note, "");
  ASSERT_TRUE(found.reproducer);
  EXPECT_EQ(found.reproducer->num_nodes, 6);
  EXPECT_EQ(found.reproducer->message, "It crashed.");
  EXPECT_EQ(found.reproducer->command,
            "harness --ir . --executor 'sim {ir}' --rtol 0.0001 --atol 0.0001 --trials 1");
  EXPECT_FALSE(fs::exists(directory_ + "/expected.safetensors"));
  EXPECT_TRUE(IR::load(directory_ + "/ir.json") == ir_);
  EXPECT_EQ(load_weights_safetensors(directory_ + "/weights.safetensors").size(), 6U);
  const auto inputs = read_inputs(directory_ + "/inputs.safetensors", ir_);
  EXPECT_TRUE(inputs.at(0).equal(candidate_->inputs(2).at(0)));
}

TEST_F(NodeComparisonTest, TakesTheToleranceOfAnOutput) {
  EditingBackend backend([](IR& ir) {
    if (OpNode* node = find_node(ir, "add")) node->attrs.set("other", Attribute(1.01));
  });
  const RegisteredModel model = callable([](torch::Tensor x) { return torch::relu(x) + 1; }, {4});
  settings_.tolerance = {.fixed = {.rtol = 0.5, .atol = 0.5}};
  EXPECT_FALSE(explain_model(model, backend).nodes.first_divergence);
  settings_.tolerance.outputs[0] = {.rtol = 0, .atol = 1e-3};
  const Explanation explanation = explain_model(model, backend);
  EXPECT_TRUE(explanation.nodes.first_divergence);
  ASSERT_TRUE(explanation.reproducer);
  EXPECT_THAT(explanation.reproducer->command, HasSubstr("--rtol 0 --atol 0.001"));
}

// Counts what LibTorch's allocator of the CPU gives and takes.
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
  // 200 layers of small weights; a value takes 8 MiB.
  const std::vector<int64_t> shape = {1 << 17, 16};
  const int64_t value_bytes = shape[0] * shape[1] * 4;
  candidate_ = make_candidate(registered([] { return Model(Mlp(200, 16)); }, shape), 0);
  ir_ = candidate_->extract();
  inputs_ = candidate_->inputs(0);
  EditingBackend backend(nothing);
  const auto counter = std::make_shared<MemoryCounter>();
  Explanation explanation;
  {
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, counter);
    explanation = explain(*candidate_, ir_, candidate_->weights(), inputs_, /*expected=*/{},
                          backend, settings_, /*failed=*/false, directory_);
  }
  EXPECT_EQ(explanation.nodes.num_compared, 400);
  EXPECT_GT(counter->peak(), value_bytes);
  EXPECT_LT(counter->peak(), 8 * value_bytes);
}

}  // namespace
}  // namespace torch_ir
