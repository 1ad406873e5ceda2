// Candidate: what goes through the pipeline, a model of the registry or an archive.
//
// Made and used by the process that runs one model. Whatever goes wrong is thrown.
#ifndef TORCH_IR_HARNESS_CANDIDATE_H_
#define TORCH_IR_HARNESS_CANDIDATE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "torch_ir/harness/archive.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/models/registry.h"

namespace torch_ir {

class Candidate {
 public:
  virtual ~Candidate() = default;

  // The files that it is read from. Messages name them by their paths; a report must not, for these
  // differ from machine to machine.
  virtual std::vector<std::string> paths() const { return {}; }
  // The graph, with the values of its constants. To be called first.
  virtual IR extract() = 0;
  // What the graph runs with.
  virtual const StateDict& weights() const = 0;
  virtual std::vector<at::Tensor> inputs() = 0;
  // What each output has to be for these inputs, which are not changed; undefined where nothing
  // says it.
  virtual std::vector<at::Tensor> expected(const std::vector<at::Tensor>& inputs) = 0;
};

// Weights and inputs are those of `seed`, expected is what the model computes.
std::unique_ptr<Candidate> make_candidate(const RegisteredModel& model, uint64_t seed);

// Weights, inputs and expected outputs as `archive` says.
std::unique_ptr<Candidate> make_candidate(const Archive& archive);

}  // namespace torch_ir

#endif  // TORCH_IR_HARNESS_CANDIDATE_H_
