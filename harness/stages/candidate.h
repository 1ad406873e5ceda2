// Candidate: a registered model, a model in files, or a single call that goes through the pipeline,
// in a worker. Its functions report problems by throwing.
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

  // The files that it is read from. Messages name their paths, which reports must hide because they
  // differ between machines.
  virtual std::vector<std::string> paths() const { return {}; }
  // The graph with the values of its constants. Must be called first.
  virtual IR extract() = 0;
  // Call it after extract.
  virtual SourceLines source_lines() const { return {}; }
  virtual const StateDict& weights() const = 0;
  // Trials count from 0, see trials.h.
  virtual std::vector<at::Tensor> inputs(int trial) = 0;
  // One if expected outputs are only known for the first trial's inputs.
  virtual int num_trials(const RunSettings& settings) const { return std::max(1, settings.trials); }
  virtual std::string in_trial(std::string message, int trial) const {
    return with_trial(std::move(message), trial);
  }
  // The seed of operators that draw random numbers, in each run.
  virtual uint64_t random_seed(const RunSettings& settings) const { return settings.seed; }
  // The expected outputs, undefined where unknown. `inputs` stay unchanged.
  virtual std::vector<at::Tensor> expected(const std::vector<at::Tensor>& inputs) = 0;
  // Whether expected() calls the operators of the graph in this process, so that a right graph has
  // the same outputs here.
  virtual bool calls_operators() const { return false; }
  // Runs the model on `inputs`, which stay unchanged, and passes each value of the graph to
  // `observer`: inputs, weights and constants before their use, then node outputs in graph order.
  // Throws Error, naming the place, if the model does something else than the graph on these
  // inputs. Leaves out values that this process cannot compute (computable_part). Call it after
  // extract.
  virtual void observe(const std::vector<at::Tensor>& inputs, const ValueObserver& observer) = 0;

  // Results of calls keep no graph, trials or explanation, and leave no files. A backend may report
  // a call as unsupported.
  virtual bool is_call() const { return false; }
  virtual void set_tolerance(ToleranceRule& /*rule*/) const {}
  // The outputs and the expected outputs in the form in which they are compared.
  virtual std::pair<std::vector<at::Tensor>, std::vector<at::Tensor>> compared(
      const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& expected) {
    return {outputs, expected};
  }
  virtual bool has_second_opinion(int /*trial*/) const { return true; }
};

// Draws weights and inputs from `seed`; the model computes the expected outputs.
std::unique_ptr<Candidate> make_candidate(const RegisteredModel& model, uint64_t seed);

// Takes tensors from `files`; inputs of further trials are drawn from `seed`. Without a file of
// expected outputs, the operators of the archive or graph are called eagerly to compute them.
std::unique_ptr<Candidate> make_candidate(const ModelFiles& files, uint64_t seed);

// Takes inputs and expected outputs from the case. If `settings` execute it with this library,
// `extract` also captures a case of the tables on the meta device, and compares the shapes and
// dtypes with those of the call.
std::unique_ptr<Candidate> make_candidate(const CaseSource& source, const RunSettings& settings);

// Makes any of these. Throws Error for a name that is not registered.
std::unique_ptr<Candidate> make_candidate(const ModelSource& source, const RunSettings& settings);

}  // namespace torch_ir
