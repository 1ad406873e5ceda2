// Candidate: one graph to check: a registered model, a model in files, or a single call. It goes
// through the pipeline in a worker. Its functions report problems by throwing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/results/model_files.h"
#include "harness/results/result.h"
#include "harness/stages/trials.h"
#include "torch_ir/registry/registry.h"
#include "torch_ir/runtime/graph/case.h"

namespace torch_ir {

class Candidate {
 public:
  explicit Candidate(bool is_single_call = false) : is_call(is_single_call) {}
  virtual ~Candidate() = default;

  // Whether it is a single call, one of many in a score: "unsupported" and the crash of a command
  // are answers, its result has only the worst figures up to the first trial that fails, and no
  // files tell about it.
  const bool is_call;

  // The files that it is read from. Reports must hide their paths in messages, because they differ
  // between machines.
  virtual std::vector<std::string> paths() const { return {}; }
  // Returns the graph with the values of its constants. Must be called first.
  virtual IR extract() = 0;
  // Must be called after extract.
  virtual SourceLines source_lines() const { return {}; }
  virtual const StateDict& weights() const = 0;
  // Makes inputs(), expected() and observe() those of a step of their trial, counted from 0, on
  // weights with the state that the steps before left.
  virtual void set_step(int /*step*/, const StateDict& /*weights*/) {}
  // The first trials have given inputs, and run in any case.
  virtual int num_given() const { return 1; }
  // Chooses the others, without a reference_problem, and returns the number of all. Call it once.
  int choose_trials(const RunSettings& settings);
  // "zeros and ones: the model raises ..." for each that was not chosen.
  const std::vector<std::string>& not_tried() const { return not_tried_; }
  // Returns the inputs of `trial`, counted from 0: a given or a chosen one.
  std::vector<at::Tensor> inputs(int trial) {
    return trial < num_given() ? given_inputs(trial) : chosen(trial).inputs;
  }
  virtual std::string trial_name(int trial) const {
    return trial < num_given() ? torch_ir::trial_name(0) : chosen(trial).name;
  }
  // Empty for the first, if it is the usual one.
  std::string unusual_trial(int trial) const {
    return trial == 0 && num_given() == 1 ? "" : trial_name(trial);
  }
  virtual std::string in_trial(std::string message, int trial) const {
    return with_trial(std::move(message), unusual_trial(trial));
  }
  // The seed, in each run, of operators that draw random numbers.
  virtual uint64_t random_seed(const RunSettings& settings) const { return settings.seed; }
  // Returns the expected outputs of `trial`; unknown ones are undefined. `inputs`, those of the
  // trial, stay unchanged.
  virtual std::vector<at::Tensor> expected(int /*trial*/, const std::vector<at::Tensor>& inputs) {
    return run_model(inputs);
  }
  // Runs the model on `inputs`, which stay unchanged, and passes each value of the graph to
  // `observer`: inputs, weights and constants before their use, then node outputs in graph order.
  // Skips values that this process cannot compute (computable_part). Throws Error, naming the
  // place, if on these inputs the model calls other operators than the graph. Must be called after
  // extract.
  virtual void observe(const std::vector<at::Tensor>& inputs, const ValueObserver& observer) = 0;

  virtual void set_tolerance(ToleranceRule& /*rule*/) const {}
  // Converts the outputs and the expected outputs to the form in which they are compared.
  virtual std::pair<std::vector<at::Tensor>, std::vector<at::Tensor>> compared(
      const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& expected) {
    return {outputs, expected};
  }
  // Whether the outputs are compared as they are, one element with one.
  virtual bool compares_elements(int /*trial*/) const { return true; }

 protected:
  virtual std::vector<at::Tensor> given_inputs(int trial) = 0;
  virtual std::vector<TrialInputs> proposed_trials(const RunSettings& /*settings*/) { return {}; }
  virtual std::vector<at::Tensor> run_model(const std::vector<at::Tensor>& inputs) = 0;

 private:
  const TrialInputs& chosen(int trial) const {
    return chosen_.at(static_cast<size_t>(trial - num_given()));
  }
  std::vector<TrialInputs> chosen_;
  std::vector<std::string> not_tried_;
};

// Extracts `candidate`, and returns its graph with the weights and inputs of the first trial.
Case first_trial(Candidate& candidate);

struct ModelInstance {
  Model model;
  StateDict weights;
  std::vector<at::Tensor> inputs;
};

// Builds `model` on the CPU in eval mode, with weights and inputs drawn from `seed`.
ModelInstance make_instance(const RegisteredModel& model, uint64_t seed);

// Draws weights and inputs from `seed`; the model computes the expected outputs.
std::unique_ptr<Candidate> make_candidate(const RegisteredModel& model, uint64_t seed);

// Takes tensors from `files`, and draws the inputs of further trials from `seed`. Without a file of
// expected outputs, computes them by calling the operators of the archive or graph eagerly.
// With `steps`, several sets of inputs are steps, not trials.
std::unique_ptr<Candidate> make_candidate(const ModelFiles& files, uint64_t seed, int steps = 1);

// Takes inputs and expected outputs from the case.
std::unique_ptr<Candidate> make_candidate(const CaseSource& source, const RunSettings& settings);

// Makes any of these. Throws Error for an unknown name.
std::unique_ptr<Candidate> make_candidate(const ModelSource& source, const RunSettings& settings);

}  // namespace torch_ir
