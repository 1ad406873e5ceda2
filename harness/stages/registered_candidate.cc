#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "harness/stages/candidate.h"
#include "harness/stages/stages.h"
#include "harness/stages/trials.h"
#include "torch_ir/base/error.h"
#include "torch_ir/exporter/capture/capture.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/operators/random_state.h"
#include "torch_ir/runtime/interpreter/node_run.h"

namespace torch_ir {
namespace {

class RegisteredCandidate : public Candidate {
 public:
  RegisteredCandidate(const RegisteredModel& model, uint64_t seed) : model_(model), seed_(seed) {}

  IR extract() override {
    // Full-scale weights do not fit into memory, and only the graph is needed.
    if (model_.spec.scale == Scale::kTest) make();
    IR ir = torch_ir::extract(model_, instance_);
    restore();
    graph_.nodes = ir.nodes;
    return ir;
  }
  const StateDict& weights() const override { return instance_.weights; }
  void set_tolerance(ToleranceRule& rule) const override {
    if (model_.spec.tolerance) rule = {.fixed = *model_.spec.tolerance};
    rule.outputs = model_.spec.output_tolerances;
  }
  void observe(const std::vector<at::Tensor>& inputs, const ValueObserver& observer,
               const std::function<bool()>& is_enough) override {
    if (!program_) program_ = std::make_shared<const Program>(capture(inputs));
    run_program({.program = program_, .weights = instance_.weights, .inputs = inputs}, observer,
                is_enough);
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
    std::vector<at::Tensor> outputs = run_eagerly(instance_.model, inputs);
    restore();
    return outputs;
  }

 private:
  Program capture(const std::vector<at::Tensor>& inputs) {
    ExportOptions options;
    for (const ModelInput& input : model_.spec.inputs) options.input_names.push_back(input.name);
    const RandomStateGuard keep_generator;
    Program program = export_model(instance_.model, inputs, options);
    restore();
    check_same_nodes(program);
    return program;
  }

  // Nodes are named after their operators, in order, so equal names mean equal calls.
  void check_same_nodes(const Graph& called) const {
    const auto [call, node] =
        std::ranges::mismatch(called.nodes, graph_.nodes, {}, &Node::name, &OpNode::name);
    const bool has_ended = node == graph_.nodes.end();
    const bool calls_no_more = call == called.nodes.end();
    if (has_ended && calls_no_more) return;
    throw ExportError(fmt::format(
        "on these inputs the model does not call the operators of its graph: node {} of the graph "
        "is {}, but the model calls {}",
        node - graph_.nodes.begin(),
        has_ended ? "the end" : fmt::format("'{}' ({})", node->name, node->op_type),
        calls_no_more ? "nothing more" : fmt::format("'{}' ({})", call->name, call->target)));
  }

  std::vector<int64_t> versions() const {
    std::vector<int64_t> versions;
    for (const auto& item : instance_.weights) versions.push_back(item.value()._version());
    return versions;
  }

  void make() {
    instance_ = make_instance(model_, seed_);
    versions_ = versions();
  }

  // If the model wrote to its weights, makes it again for the comparison.
  void restore() {
    if (versions() != versions_) make();
  }

  RegisteredModel model_;
  uint64_t seed_;
  std::vector<int64_t> versions_;
  IRGraph graph_;
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
    return make_candidate(*files, settings.seed);
  }
  if (const auto* call = std::get_if<CaseSource>(&source)) return make_candidate(*call, settings);
  return make_candidate(find_model(name_of(source)), settings.seed);
}

}  // namespace torch_ir
