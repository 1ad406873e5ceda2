// Candidate: one graph to check: a registered model, a model in files, or a single call. It goes
// through the pipeline in a worker. Its functions report problems by throwing.
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
#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/program.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {

class Candidate {
 public:
  virtual ~Candidate() = default;

  // The files that it is read from. Reports must hide their paths in messages, because they differ
  // between machines.
  virtual std::vector<std::string> paths() const { return {}; }
  // Returns the graph with the values of its constants. Must be called first.
  virtual IR extract() = 0;
  // Must be called after extract.
  virtual SourceLines source_lines() const { return {}; }
  virtual const StateDict& weights() const = 0;
  // Returns the inputs of `trial`, counted from 0 (trials.h).
  virtual std::vector<at::Tensor> inputs(int trial) = 0;
  // 1 if expected outputs are known only for the first trial's inputs.
  virtual int num_trials(const RunSettings& settings) const { return std::max(1, settings.trials); }
  virtual std::string in_trial(std::string message, int trial) const {
    return with_trial(std::move(message), trial);
  }
  // The seed, in each run, of operators that draw random numbers.
  virtual uint64_t random_seed(const RunSettings& settings) const { return settings.seed; }
  // Returns the expected outputs; unknown ones are undefined. `inputs` stay unchanged.
  virtual std::vector<at::Tensor> expected(const std::vector<at::Tensor>& inputs) = 0;
  // Whether expected() calls the operators of the graph in this process, so that a correct graph
  // has the same outputs here.
  virtual bool calls_operators() const { return false; }
  // Runs the model on `inputs`, which stay unchanged, and passes each value of the graph to
  // `observer`: inputs, weights and constants before their use, then node outputs in graph order.
  // Skips values that this process cannot compute (computable_part). Throws Error, naming the
  // place, if on these inputs the model calls other operators than the graph. Must be called after
  // extract.
  virtual void observe(const std::vector<at::Tensor>& inputs, const ValueObserver& observer) = 0;

  // Whether it is a single call. Results of calls keep no graph, trials or explanation, and leave
  // no files; a backend may report a call as unsupported.
  virtual bool is_call() const { return false; }
  virtual void set_tolerance(ToleranceRule& /*rule*/) const {}
  // Converts the outputs and the expected outputs to the form in which they are compared.
  virtual std::pair<std::vector<at::Tensor>, std::vector<at::Tensor>> compared(
      const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& expected) {
    return {outputs, expected};
  }
  virtual bool has_second_opinion(int /*trial*/) const { return true; }
};

// Draws weights and inputs from `seed`; the model computes the expected outputs.
std::unique_ptr<Candidate> make_candidate(const RegisteredModel& model, uint64_t seed);

// Takes tensors from `files`, and draws the inputs of further trials from `seed`. Without a file of
// expected outputs, computes them by calling the operators of the archive or graph eagerly.
std::unique_ptr<Candidate> make_candidate(const ModelFiles& files, uint64_t seed);

// Takes inputs and expected outputs from the case. If our runtime runs it, `extract` also captures
// a case of the tables on the meta device, and compares shapes and dtypes with those of the call.
std::unique_ptr<Candidate> make_candidate(const CaseSource& source, const RunSettings& settings);

// Makes any of these. Throws Error for an unknown name.
std::unique_ptr<Candidate> make_candidate(const ModelSource& source, const RunSettings& settings);

}  // namespace torch_ir
