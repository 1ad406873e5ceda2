#include "harness/divergence/testing/explanation_fixture.h"

#include <torch/torch.h>

#include <algorithm>
#include <filesystem>

#include "torch_ir/base/error.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

struct MlpImpl : torch::nn::Module {
  MlpImpl(int64_t num_layers, int64_t width) {
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

struct TiedImpl : torch::nn::Module {
  TiedImpl() {
    count = register_buffer("count", torch::zeros({4}));
    square = register_buffer("square", count.view({2, 2}));
  }
  torch::Tensor forward(torch::Tensor x) {
    count.add_(x.abs() + 1);
    return square * 2;
  }
  torch::Tensor count;
  torch::Tensor square;
};
TORCH_MODULE(Tied);

RegisteredModel registered(std::function<Model()> make, std::vector<int64_t> shape) {
  return {.name = "Model",
          .spec = {.inputs = {{.name = "x", .shape = std::move(shape), .low = -1}},
                   .categories = {"test"}},
          .make = std::move(make)};
}

class ToldValues : public NodeValues {
 public:
  ToldValues(std::unique_ptr<NodeValues> values, Tell tell)
      : values_(std::move(values)), tell_(std::move(tell)) {}
  at::Tensor next(const std::string& name) override { return tell_(name, values_->next(name)); }

 private:
  std::unique_ptr<NodeValues> values_;
  Tell tell_;
};

}  // namespace

RegisteredModel mlp(std::vector<int64_t> shape, int64_t num_layers) {
  const int64_t width = shape.back();
  return registered([=] { return Model(Mlp(num_layers, width)); }, std::move(shape));
}

RegisteredModel counter() {
  return registered([] { return Model(Counter()); }, {4});
}

RegisteredModel tied() {
  return registered([] { return Model(Tied()); }, {4});
}

RegisteredModel callable(std::function<at::Tensor(at::Tensor)> forward,
                         std::vector<int64_t> shape) {
  const ModelFn model = [forward = std::move(forward)](const Tensors& inputs) {
    return Tensors{forward(inputs.at(0))};
  };
  return registered([model] { return Model(model); }, std::move(shape));
}

OpNode* find_node(IR& ir, const std::string& name) {
  const auto node = std::ranges::find(ir.nodes, name, &OpNode::name);
  return node == ir.nodes.end() ? nullptr : &*node;
}

std::unique_ptr<NodeValues> EditingBackend::values(const IR& ir, const StateDict& weights,
                                                   const std::vector<at::Tensor>& inputs) {
  std::unique_ptr<NodeValues> values = PlanBackend::values(edited(ir), weights, inputs);
  if (!tell_) return values;
  return std::make_unique<ToldValues>(std::move(values), tell_);
}

Tell hide(const std::set<std::string>& names) {
  return [=](const std::string& name, const at::Tensor& value) {
    return names.contains(name) ? at::Tensor() : value;
  };
}

void nothing(IR& /*ir*/) {}

Edit replace(const std::string& name, const std::string& op_type) {
  return [=](IR& ir) {
    if (OpNode* node = find_node(ir, name)) node->op_type = op_type;
  };
}

ExplanationTest::ExplanationTest() {
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  directory_ = ::testing::TempDir() + "/explanation_" + name;
  fs::remove_all(directory_);
}

void ExplanationTest::prepare(const RegisteredModel& model) {
  candidate_ = make_candidate(model, /*seed=*/0);
  ir_ = candidate_->extract();
  inputs_ = candidate_->inputs(0);
}

Explanation ExplanationTest::explain_model(const RegisteredModel& model, Backend& backend,
                                           bool failed) {
  prepare(model);
  return explain(run_of(expected_by(backend)), backend, failed);
}

ExplainedRun ExplanationTest::run_of(std::vector<at::Tensor> expected) {
  return {.candidate = *candidate_,
          .ir = ir_,
          .inputs = inputs_,
          .settings = settings_,
          .directory = directory_,
          .expected = std::move(expected)};
}

std::vector<at::Tensor> ExplanationTest::expected_by(Backend& backend) {
  try {
    backend.run(ir_, candidate_->weights(), inputs_);
  } catch (const Error&) {
    return {};
  }
  at::manual_seed(settings_.seed);
  return candidate_->expected(inputs_);
}

VerificationReport ExplanationTest::replay(Backend& backend) {
  const IR ir = IR::load(directory_ + "/ir.json");
  StateDict weights;
  if (fs::exists(directory_ + "/weights.safetensors")) {
    weights = load_weights_safetensors(directory_ + "/weights.safetensors");
  }
  const auto inputs = read_inputs(directory_ + "/inputs.safetensors", ir);
  const auto expected = read_expected(directory_ + "/expected.safetensors", ir);
  return compare_outputs(backend.run(ir, weights, inputs), expected, {}, settings_.tolerance);
}

}  // namespace torch_ir
