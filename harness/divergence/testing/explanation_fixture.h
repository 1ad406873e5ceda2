// Test models, faulty backends, and a fixture that explains their failures.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/divergence/node_comparison.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/text.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/registry/registry.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {

using Tensors = std::vector<at::Tensor>;

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

inline RegisteredModel registered(std::function<Model()> make, std::vector<int64_t> shape) {
  return {.name = "Model",
          .spec = {.inputs = {{.name = "x", .shape = std::move(shape), .low = -1}},
                   .categories = {"test"}},
          .make = std::move(make)};
}

// Linear layers, each followed by a tanh; `shape` is that of the input.
inline RegisteredModel mlp(std::vector<int64_t> shape = {2, 8}, int64_t num_layers = 3) {
  const int64_t width = shape.back();
  return registered([=] { return Model(Mlp(num_layers, width)); }, std::move(shape));
}

// Counts its calls in a buffer, and writes to a view of its result.
inline RegisteredModel counter() {
  return registered([] { return Model(Counter()); }, {4});
}

// Writes to a buffer, and reads another one that shares its memory.
inline RegisteredModel tied() {
  return registered([] { return Model(Tied()); }, {4});
}

inline RegisteredModel callable(std::function<at::Tensor(at::Tensor)> forward,
                                std::vector<int64_t> shape) {
  const ModelFn model = [forward = std::move(forward)](const Tensors& inputs) {
    return Tensors{forward(inputs.at(0))};
  };
  return registered([model] { return Model(model); }, std::move(shape));
}

inline OpNode* find_node(IR& ir, const std::string& name) {
  const auto node = std::ranges::find(ir.nodes, name, &OpNode::name);
  return node == ir.nodes.end() ? nullptr : &*node;
}

using Edit = std::function<void(IR&)>;
using Tell = std::function<at::Tensor(const std::string&, const at::Tensor&)>;

class ToldValues : public NodeValues {
 public:
  ToldValues(std::unique_ptr<NodeValues> values, Tell tell)
      : values_(std::move(values)), tell_(std::move(tell)) {}
  at::Tensor next(const std::string& name) override { return tell_(name, values_->next(name)); }

 private:
  std::unique_ptr<NodeValues> values_;
  Tell tell_;
};

class EditingBackend : public PlanBackend {
 public:
  explicit EditingBackend(Edit edit, Tell tell = nullptr)
      : PlanBackend(ExecutionOptions()), edit_(std::move(edit)), tell_(std::move(tell)) {}

  std::vector<at::Tensor> run(const Case& graph_case) override {
    return PlanBackend::run(edited(graph_case));
  }
  std::unique_ptr<NodeValues> values(const Case& graph_case) override {
    std::unique_ptr<NodeValues> values = PlanBackend::values(edited(graph_case));
    if (!tell_) return values;
    return std::make_unique<ToldValues>(std::move(values), tell_);
  }

 private:
  Case edited(const Case& graph_case) const {
    IR ir = to_ir(*graph_case.program);
    edit_(ir);
    return graph_case.with(resolve(ir));
  }

  Edit edit_;
  Tell tell_;
};

class SilentBackend : public EditingBackend {
 public:
  using EditingBackend::EditingBackend;
  std::unique_ptr<NodeValues> values(const Case& /*graph_case*/) override { return nullptr; }
};

// Runs edited graphs, but reports the values of the originals.
class WrongTogetherBackend : public EditingBackend {
 public:
  using EditingBackend::EditingBackend;
  std::unique_ptr<NodeValues> values(const Case& graph_case) override {
    return PlanBackend::values(graph_case);
  }
};

inline Tell hide(const std::set<std::string>& names) {
  return [=](const std::string& name, const at::Tensor& value) {
    return names.contains(name) ? at::Tensor() : value;
  };
}

// The reproducer as "view to sigmoid, 3 nodes", or why there is none.
inline std::string part_of(const Explanation& explanation) {
  if (!explanation.reproducer) return "none. " + explanation.nodes.note;
  const auto& [trial, num_nodes, first, last, command, message] = *explanation.reproducer;
  return first + " to " + last + ", " + counted(num_nodes, "node");
}

// The node of the first difference; empty if there is none.
inline std::string first_wrong(const Explanation& explanation) {
  const auto& first = explanation.nodes.first_divergence;
  return first ? first->node.node : "";
}

inline void nothing(IR& /*ir*/) {}

// Changes node `name` to another operator of one argument.
inline Edit replace(const std::string& name, const std::string& op_type) {
  return [=](IR& ir) {
    if (OpNode* node = find_node(ir, name)) node->op_type = op_type;
  };
}

// The same in graphs and parts that have node `other` too.
inline Edit replace_beside(const std::string& other, const std::string& name,
                           const std::string& op_type) {
  return [=](IR& ir) {
    if (find_node(ir, other) != nullptr) replace(name, op_type)(ir);
  };
}

// Changes an attribute of node `name`.
inline Edit change(const std::string& name, const std::string& attribute, const Attribute& value) {
  return [=](IR& ir) {
    if (OpNode* node = find_node(ir, name)) node->attrs.set(attribute, value);
  };
}

class ExplanationTest : public ::testing::Test {
 protected:
  ExplanationTest() {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    directory_ = ::testing::TempDir() + "/explanation_" + name;
    std::filesystem::remove_all(directory_);
  }

  Explanation explain_model(const RegisteredModel& model, Backend& backend, bool failed = true) {
    prepare(model);
    return explain(run_of(expected_by(backend)), backend, failed);
  }

  void prepare(const RegisteredModel& model) {
    candidate_ = make_candidate(model, /*seed=*/0);
    ir_ = candidate_->extract();
    inputs_ = candidate_->inputs(0);
  }

  Case case_of(std::vector<at::Tensor> inputs, std::vector<at::Tensor> expected) const {
    return Case{.weights = candidate_->weights(),
                .inputs = std::move(inputs),
                .expected = std::move(expected)}
        .with(resolve(ir_));
  }

  ExplainedRun run_of(std::vector<at::Tensor> expected) {
    graph_case_ = case_of(inputs_, std::move(expected));
    return {.candidate = *candidate_,
            .graph_case = graph_case_,
            .settings = settings_,
            .directory = directory_};
  }

  VerificationReport replay(Backend& backend) {
    const Case written = load_case(directory_);
    return compare_outputs(backend.run(written), written.expected, {}, settings_.tolerance);
  }

  // Whether the reproducer fails on `backend` alone.
  bool is_fault_of(Backend& backend) {
    PlanBackend right{ExecutionOptions()};
    return !replay(backend).is_valid && replay(right).is_valid;
  }

  RunSettings settings_;
  std::string directory_;
  std::unique_ptr<Candidate> candidate_;
  IR ir_;
  std::vector<at::Tensor> inputs_;
  // That of the last run_of.
  Case graph_case_;

 private:
  // The outputs of the run that is explained; empty if it ends with an error.
  std::vector<at::Tensor> expected_by(Backend& backend) {
    try {
      backend.run(case_of(inputs_, {}));
    } catch (const Error&) {
      return {};
    }
    at::manual_seed(settings_.seed);
    return candidate_->expected(0, inputs_);
  }
};

}  // namespace torch_ir
