// For tests: models, backends that are wrong in every way, and a fixture that explains what comes
// of the two.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/divergence/node_comparison.h"
#include "torch_ir/registry/registry.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {

using Tensors = std::vector<at::Tensor>;

// --- Models ---

// Linear layers of that width, each with a tanh behind it; its input has the shape.
RegisteredModel mlp(std::vector<int64_t> shape = {2, 8}, int64_t num_layers = 3);

// Counts its calls in a buffer, and writes to a view of what it computes.
RegisteredModel counter();

// Writes to a buffer, and reads another one that shares its memory.
RegisteredModel tied();

RegisteredModel callable(std::function<at::Tensor(at::Tensor)> forward, std::vector<int64_t> shape);

// --- Backends ---

// Null where there is none.
OpNode* find_node(IR& ir, const std::string& name);

using Edit = std::function<void(IR&)>;
using Tell = std::function<at::Tensor(const std::string&, const at::Tensor&)>;

// Runs other graphs than it is given, and tells of the values what `tell` makes of them.
class EditingBackend : public PlanBackend {
 public:
  explicit EditingBackend(Edit edit, Tell tell = nullptr)
      : PlanBackend(ExecutionOptions()), edit_(std::move(edit)), tell_(std::move(tell)) {}

  std::vector<at::Tensor> run(const IR& ir, const StateDict& weights,
                              const std::vector<at::Tensor>& inputs) override {
    return PlanBackend::run(edited(ir), weights, inputs);
  }
  std::unique_ptr<NodeValues> values(const IR& ir, const StateDict& weights,
                                     const std::vector<at::Tensor>& inputs) override;

 private:
  IR edited(IR ir) const {
    edit_(ir);
    return ir;
  }

  Edit edit_;
  Tell tell_;
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

// Runs other graphs than it is given, but tells the values of those.
class WrongTogetherBackend : public EditingBackend {
 public:
  using EditingBackend::EditingBackend;
  std::unique_ptr<NodeValues> values(const IR& ir, const StateDict& weights,
                                     const std::vector<at::Tensor>& inputs) override {
    return PlanBackend::values(ir, weights, inputs);
  }
};

// Values of these names are not told.
Tell hide(const std::set<std::string>& names);

// An edit that leaves a graph as it is.
void nothing(IR& ir);

// An edit: node `name` is another operator of one argument.
Edit replace(const std::string& name, const std::string& op_type);

// --- The fixture ---

class ExplanationTest : public ::testing::Test {
 protected:
  ExplanationTest();

  // Makes candidate, graph and inputs of the model, and explains what the backend makes of them.
  Explanation explain_model(const RegisteredModel& model, Backend& backend, bool failed = true);

  // Makes candidate, graph and inputs of the model only.
  void prepare(const RegisteredModel& model);

  // What was prepared, compared with `expected`.
  ExplainedRun run_of(std::vector<at::Tensor> expected);

  // Runs the files of the reproducer on `backend`.
  VerificationReport replay(Backend& backend);

  RunSettings settings_;
  // Of the reproducer; not there at first.
  std::string directory_;
  std::unique_ptr<Candidate> candidate_;
  IR ir_;
  std::vector<at::Tensor> inputs_;

 private:
  // What the run is compared with that is explained: nothing where it ends with an error.
  std::vector<at::Tensor> expected_by(Backend& backend);
};

}  // namespace torch_ir
