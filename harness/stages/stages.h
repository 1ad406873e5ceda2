// The stages of the pipeline, each a function from data to data.
//
// Called one after the other by run_candidate, the first and the last by way of a Candidate. A
// stage that fails throws; what it throws says why.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "harness/process/worker.h"
#include "harness/results/result.h"
#include "torch_ir/base/error.h"
#include "torch_ir/exporter/capture/model.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {

// A model with its weights and inputs: what the IR has to be equal to.
struct Subject {
  Model model;
  StateDict weights;
  std::vector<at::Tensor> inputs;
};

// Calls `write`. What it throws because a file can not be written becomes an OutputError; that the
// content can not be written stays what it is.
void write_output(const std::function<void()>& write);

// Builds `model` on the CPU, in eval mode, with the weights and inputs of `seed`.
Subject make_subject(const RegisteredModel& model, uint64_t seed);

// The IR of `model`: built and captured on the meta device, so without a weight in memory. The
// values of constants, which the meta device does not have, are those of `subject`.
IR extract(const RegisteredModel& model, const Subject& subject);

// Writes `ir` to `path`, or where that is empty to a text, and gives back what that says. Throws
// SerializeMismatch when that is not equal, SerializationError or ValidationError when it cannot
// be read or is not well formed, OutputError when nothing can be written.
IR serialize(const IR& ir, const std::string& path);

// The outputs of `model` itself for copies of `inputs`.
std::vector<at::Tensor> run_eagerly(const Model& model, const std::vector<at::Tensor>& inputs);

// `tensors` under the names of `values`. A value that is there twice is stored once, an undefined
// one not at all.
StateDict tensors_by_name(const std::vector<TensorMeta>& values,
                          const std::vector<at::Tensor>& tensors);

// Writes what replays the verification by hand: DIRECTORY/weights.safetensors,
// DIRECTORY/inputs.safetensors and DIRECTORY/expected.safetensors, the last two under the names
// that `ir` has for its inputs and outputs. Throws WeightError for a dtype that the format does not
// have, OutputError.
void save_tensors(const IR& ir, const StateDict& weights, const std::vector<at::Tensor>& inputs,
                  const std::vector<at::Tensor>& expected, const std::string& directory);

// A graph, its weights, or the tensors that it is given can not be read, or do not fit each other.
class LoadError : public Error {
 public:
  using Error::Error;
};

// A graph that was written and read is another one.
class SerializeMismatch : public Error {
 public:
  using Error::Error;
};

// The outputs are not what they should be.
class OutputMismatch : public Error {
 public:
  using Error::Error;
};

// Whether LibTorch has been refused memory since this was made: its allocator for the CPU throws an
// error without a type of its own, which may be part of another when it is caught.
class AllocationWatch {
 public:
  AllocationWatch();
  bool has_refused() const;

 private:
  int64_t num_refused_before_;
};

// Which kind of failure an exception in a stage is. The supervisor knows by itself what ended a
// process.
FailureKind failure_kind(Stage stage, const std::exception& exception,
                         const AllocationWatch& memory = AllocationWatch());

// What `load()` gives; its errors become LoadErrors.
template <class Load>
auto loading(Load load) {
  try {
    return load();
  } catch (const Error& error) {
    throw LoadError(error.what());
  }
}

// `text` without the folder of a run's files, which differs from run to run.
std::string without_folder(std::string text, const std::string& folder);

}  // namespace torch_ir
