// Candidate: what goes through the pipeline, a model of the registry, one in files, or a single
// call.
//
// Made and used by the worker that runs it. Whatever goes wrong is thrown.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/results/model_files.h"
#include "harness/results/result.h"
#include "harness/stages/trials.h"
#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {

class Candidate {
 public:
  virtual ~Candidate() = default;

  // The files that it is read from. Messages name them by their paths; a report must not, for these
  // differ from machine to machine.
  virtual std::vector<std::string> paths() const { return {}; }
  // The graph, with the values of its constants. To be called first.
  virtual IR extract() = 0;
  // Where its nodes come from, as far as it is known; after extract.
  virtual NodeOrigins origins() const { return {}; }
  // What the graph runs with.
  virtual const StateDict& weights() const = 0;
  // The inputs of a trial, which count from 0, see trials.h.
  virtual std::vector<at::Tensor> inputs(int trial) = 0;
  // How many there are: one where what is expected is known for those of the first only.
  virtual int num_trials(const RunSettings& settings) const { return std::max(1, settings.trials); }
  // `message` of what went wrong in a trial, with which one that was where it matters.
  virtual std::string in_trial(std::string message, int trial) const {
    return with_trial(std::move(message), trial);
  }
  // What operators that draw random numbers start from, in each run.
  virtual uint64_t random_seed(const RunSettings& settings) const { return settings.seed; }
  // What each output has to be for these inputs, which are not changed; undefined where nothing
  // says it.
  virtual std::vector<at::Tensor> expected(const std::vector<at::Tensor>& inputs) = 0;
  // Runs the model on `inputs`, which are not changed, and tells `observer` each value of the graph
  // as soon as the model has it: what goes in, inputs, weights and constants, before it is used,
  // and what the nodes make in the order of the graph. Throws Error, saying where, when the model
  // on these inputs is not what the graph says. To be called after extract.
  virtual void observe(const std::vector<at::Tensor>& inputs, const ValueObserver& observer) = 0;

  // Whether it is a single call, one of thousands: its result keeps no graph, no trials and no
  // explanation, a backend may say that it does not support it, and what it leaves are no files.
  virtual bool is_call() const { return false; }
  // Puts the tolerances that it has of its own in place of those of the run.
  virtual void set_tolerance(ToleranceRule& /*rule*/) const {}
  // What is compared of the outputs, and of those expected.
  virtual std::pair<std::vector<at::Tensor>, std::vector<at::Tensor>> compared(
      const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& expected) {
    return {outputs, expected};
  }
  // Whether float64 is asked about the outputs of a trial.
  virtual bool has_second_opinion(int /*trial*/) const { return true; }
};

// Weights and inputs are those of `seed`, expected is what the model computes.
std::unique_ptr<Candidate> make_candidate(const RegisteredModel& model, uint64_t seed);

// Weights, inputs and expected outputs as `files` say; inputs of further trials are of `seed`.
// Where no file says what is expected, it is what the operators of the archive or the graph compute
// when each is called eagerly.
std::unique_ptr<Candidate> make_candidate(const ModelFiles& files, uint64_t seed);

// Inputs and expected outputs are those of the case. One of the tables is also captured on the meta
// device in `extract` where this library executes it, as `settings` say: shapes and dtypes have to
// be what the call itself has.
std::unique_ptr<Candidate> make_candidate(const CaseSource& source, const RunSettings& settings);

// Of any of them, with the seed of `settings`. Throws Error for a name that is not registered.
std::unique_ptr<Candidate> make_candidate(const ModelSource& source, const RunSettings& settings);

}  // namespace torch_ir
