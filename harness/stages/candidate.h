// Candidate: what goes through the pipeline, a model of the registry or one in files.
//
// Made and used by the process that runs one model. Whatever goes wrong is thrown.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/selection/model_files.h"
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
  // Whether what is expected is known for other inputs than those of the first trial.
  virtual bool takes_trials() const { return true; }
  // What each output has to be for these inputs, which are not changed; undefined where nothing
  // says it.
  virtual std::vector<at::Tensor> expected(const std::vector<at::Tensor>& inputs) = 0;
  // Runs the model on `inputs`, which are not changed, and tells `observer` each value of the graph
  // as soon as the model has it: what goes in, inputs, weights and constants, before it is used,
  // and what the nodes make in the order of the graph. Throws Error, saying where, when the model
  // on these inputs is not what the graph says. To be called after extract.
  virtual void observe(const std::vector<at::Tensor>& inputs, const ValueObserver& observer) = 0;
};

// Weights and inputs are those of `seed`, expected is what the model computes.
std::unique_ptr<Candidate> make_candidate(const RegisteredModel& model, uint64_t seed);

// Weights, inputs and expected outputs as `files` say; inputs of further trials are of `seed`.
// Where no file says what is expected, it is what the operators of the archive or the graph compute
// when each is called eagerly.
std::unique_ptr<Candidate> make_candidate(const ModelFiles& files, uint64_t seed);

// Of either. Throws Error for a name that is not registered.
std::unique_ptr<Candidate> make_candidate(const ModelSource& source, uint64_t seed);

}  // namespace torch_ir
