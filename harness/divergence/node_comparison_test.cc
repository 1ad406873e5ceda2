#include "torch_ir/harness/divergence/node_comparison.h"

#include <c10/util/ThreadLocalDebugInfo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include "torch_ir/harness/backend/plan_backend.h"
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

// The same, but only when it runs whole graphs.
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
    return explain(*candidate_, ir_, candidate_->weights(), inputs_, backend, settings_, failed,
                   directory_);
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
  EXPECT_THAT(explanation.nodes.note, HasSubstr("the nodes agree when they run one by one"));
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
  EXPECT_THAT(explanation.nodes.note, HasSubstr("all of them as outputs"));
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
  EXPECT_FALSE(explanation.reproducer);
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
    explanation = explain(*candidate_, ir_, candidate_->weights(), inputs_, backend, settings_,
                          /*failed=*/false, directory_);
  }
  EXPECT_EQ(explanation.nodes.num_compared, 400);
  EXPECT_GT(counter->peak(), value_bytes);
  EXPECT_LT(counter->peak(), 8 * value_bytes);
}

}  // namespace
}  // namespace torch_ir
