#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

#include "harness/stages/candidate.h"
#include "harness/stages/stages.h"
#include "harness/stages/trials.h"
#include "torch_ir/base/error.h"
#include "torch_ir/exporter/capture/capture.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/operators/random_state.h"
#include "torch_ir/runtime/graph/state.h"
#include "torch_ir/runtime/interpreter/node_run.h"

namespace torch_ir {
namespace {

class RegisteredCandidate : public Candidate {
 public:
  RegisteredCandidate(const RegisteredModel& model, uint64_t seed) : model_(model), seed_(seed) {}

  IR extract() override {
    // Full-scale weights do not fit into memory, and only the graph is needed.
    if (model_.spec.scale == Scale::kTest) instance_ = make_instance(model_, seed_);
    IR ir = torch_ir::extract(model_, instance_);
    extracted_ = std::make_shared<const Program>(resolve(ir));
    return ir;
  }
  const StateDict& weights() const override { return instance_.weights; }
  void set_step(int /*step*/, const StateDict& weights) override {
    const at::NoGradGuard no_grad;
    for (const auto& item : weights) {
      at::Tensor* own = instance_.weights.find(item.key());
      if (own != nullptr && !own->is_same(item.value())) own->copy_(item.value());
    }
  }
  void set_tolerance(ToleranceRule& rule) const override {
    if (model_.spec.tolerance) rule = {.fixed = *model_.spec.tolerance};
    rule.outputs = model_.spec.output_tolerances;
  }
  void observe(const std::vector<at::Tensor>& inputs, const ValueObserver& observer) override {
    if (!program_) program_ = std::make_shared<const Program>(capture(inputs));
    run_program({.program = program_, .weights = instance_.weights, .inputs = inputs}, observer);
  }

 protected:
  std::vector<at::Tensor> given_inputs(int /*trial*/) override { return instance_.inputs; }
  std::vector<TrialInputs> proposed_trials(const RunSettings& settings) override {
    std::vector<TrialInput> inputs;
    for (size_t i = 0; i < instance_.inputs.size(); ++i) {
      const ModelInput& spec = model_.spec.inputs[i];
      inputs.push_back({spec.name, instance_.inputs[i], ValueRange{spec.low, spec.high}});
    }
    return value_trials(settings.trials - 1, inputs, seed_, model_.name);
  }
  std::vector<at::Tensor> run_model(const std::vector<at::Tensor>& inputs) override {
    const at::NoGradGuard no_grad;
    Case given{.program = extracted_, .weights = instance_.weights, .inputs = inputs};
    // A model may write to its inputs.
    for (at::Tensor& input : given.inputs) input = input.clone();
    KeptWrites kept;
    std::vector<at::Tensor> outputs = under(kept, [&] { return instance_.model(given.inputs); });
    std::ranges::copy(state_after(given, kept), std::back_inserter(outputs));
    // An output may be a weight, which gets its old value back.
    for (at::Tensor& output : outputs) output = output.defined() ? output.clone() : output;
    return outputs;
  }

 private:
  Program capture(const std::vector<at::Tensor>& inputs) {
    ExportOptions options;
    for (const ModelInput& input : model_.spec.inputs) options.input_names.push_back(input.name);
    const RandomStateGuard keep_generator;
    Program program = export_model(instance_.model, inputs, options);
    check_same_nodes(program);
    return program;
  }

  // Nodes are named after their operators, in order, so equal names mean equal calls.
  void check_same_nodes(const Graph& called) const {
    const auto [call, node] =
        std::ranges::mismatch(called.nodes, extracted_->nodes, {}, &Node::name, &Node::name);
    const bool has_ended = node == extracted_->nodes.end();
    const bool calls_no_more = call == called.nodes.end();
    if (has_ended && calls_no_more) return;
    throw ExportError(fmt::format(
        "on these inputs the model does not call the operators of its graph: node {} of the graph "
        "is {}, but the model calls {}",
        node - extracted_->nodes.begin(),
        has_ended ? "the end" : fmt::format("'{}' ({})", node->name, node->target),
        calls_no_more ? "nothing more" : fmt::format("'{}' ({})", call->name, call->target)));
  }

  RegisteredModel model_;
  uint64_t seed_;
  std::shared_ptr<const Program> extracted_;
  std::shared_ptr<const Program> program_;
  ModelInstance instance_{.model = ModelFn(), .weights = StateDict(), .inputs = {}};
};

}  // namespace

int Candidate::choose_trials(const RunSettings& settings) {
  for (TrialInputs& trial : proposed_trials(settings)) {
    const auto run = [&] {
      at::manual_seed(random_seed(settings));
      return run_model(trial.inputs);
    };
    if (trial.problem.empty()) trial.problem = reference_problem(run);
    if (!trial.problem.empty()) not_tried_.push_back(trial.name + ": " + trial.problem);
    if (trial.problem.empty()) chosen_.push_back(std::move(trial));
  }
  return num_given() + static_cast<int>(chosen_.size());
}

Case first_trial(Candidate& candidate) {
  Case content = Case().with(resolve(candidate.extract()));
  content.weights = candidate.weights();
  content.inputs = candidate.inputs(0);
  return content;
}

std::unique_ptr<Candidate> make_candidate(const RegisteredModel& model, uint64_t seed) {
  return std::make_unique<RegisteredCandidate>(model, seed);
}

std::unique_ptr<Candidate> make_candidate(const ModelSource& source, const RunSettings& settings) {
  if (const auto* files = std::get_if<ModelFiles>(&source)) {
    return make_candidate(*files, settings.seed, settings.steps);
  }
  if (const auto* call = std::get_if<CaseSource>(&source)) return make_candidate(*call, settings);
  return make_candidate(find_model(name_of(source)), settings.seed);
}

}  // namespace torch_ir
