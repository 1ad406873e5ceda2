#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "harness/stages/candidate.h"
#include "harness/stages/stages.h"
#include "harness/stages/trials.h"
#include "torch_ir/converter/converter.h"
#include "torch_ir/converter/extract.h"
#include "torch_ir/exporter/capture/capture.h"
#include "torch_ir/exporter/capture/lifted_constants.h"
#include "torch_ir/exporter/meta/meta_device.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/operators/random_state.h"
#include "torch_ir/runtime/graph/state.h"
#include "torch_ir/runtime/interpreter/node_run.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

Model make_for_inference(const RegisteredModel& registered) {
  Model model = registered.make();
  if (model.module()) model.module()->eval();
  return model;
}

class RegisteredCandidate : public Candidate {
 public:
  RegisteredCandidate(const RegisteredModel& model, uint64_t seed)
      : model_(model), seed_(seed), options_{.model_name = model.name} {
    for (const ModelInput& input : model.spec.inputs) options_.input_names.push_back(input.name);
  }

  // Captures the model on the meta device, without allocating weights.
  IR extract() override {
    // Full-scale weights do not fit into memory, and only the graph is needed.
    if (model_.spec.scale == Scale::kTest) instance_ = make_instance(model_, seed_);
    Program program = capture_on_meta();
    program.constants = constants_of(program);
    check_constants(program);
    IR ir = convert_exported_program(program, model_.name, /*strict=*/true);
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
    if (!program_) {
      Program program = capture(inputs);
      check_same_nodes(program);
      program_ = std::make_shared<const Program>(std::move(program));
    }
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
  Program capture_on_meta() const {
    const MetaDeviceGuard meta;
    ExportOptions options = options_;
    options.strict = true;
    std::vector<at::Tensor> inputs;
    for (const ModelInput& input : model_.spec.inputs) {
      inputs.push_back(at::empty(input.shape, at::device(at::kMeta).dtype(input.dtype)));
    }
    return export_model(make_for_inference(model_), inputs, options);
  }

  Program capture(const std::vector<at::Tensor>& inputs) const {
    const RandomStateGuard keep_generator;
    return export_model(instance_.model, inputs, options_);
  }

  // The constants of `program`, with the values that the instance has: registered constants by
  // name, others as a capture of the instance finds them. Where it has none, there are none.
  StateDict constants_of(const Program& program) const {
    StateDict constants("Constant");
    for (const auto& constant : program.constants) {
      if (!constant.value().is_meta()) constants.insert(constant.key(), constant.value());
    }
    if (instance_.model.module() == nullptr) return program.constants;
    for (const LiftedConstant& constant : list_constants(*instance_.model.module())) {
      if (!constants.contains(constant.name)) constants.insert(constant.name, constant.tensor);
    }
    const auto is_known = [&](const auto& item) { return constants.contains(item.key()); };
    if (std::ranges::all_of(program.constants, is_known)) return constants;
    const Program real = capture(instance_.inputs);
    const bool has_same_calls =
        std::ranges::equal(real.nodes, program.nodes, {}, &Node::target, &Node::target);
    for (const auto& constant : program.constants) {
      if (constants.contains(constant.key())) continue;
      const at::Tensor* value = has_same_calls ? real.constants.find(constant.key()) : nullptr;
      constants.insert(constant.key(), value == nullptr ? constant.value() : *value);
    }
    return constants;
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
  ExportOptions options_;
  std::shared_ptr<const Program> extracted_;
  std::shared_ptr<const Program> program_;
  ModelInstance instance_{.model = ModelFn(), .weights = StateDict(), .inputs = {}};
};

}  // namespace

ModelInstance make_instance(const RegisteredModel& model, uint64_t seed) {
  ModelInstance instance{.model = make_for_inference(model), .weights = StateDict(), .inputs = {}};
  instance.inputs = seeded_inputs(model.spec, seed, model.name);
  if (torch::nn::Module* module = instance.model.module().get()) {
    fill_weights(*module, seed, model.name);
    instance.weights = state_dict(*module);
  }
  return instance;
}

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
