// The stages of the pipeline as functions on data. run_candidate and Candidates call them; they
// report failures by throwing.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/result.h"
#include "torch_ir/base/error.h"

namespace torch_ir {

// Calls `write`, and turns errors about an unwritable file into OutputError. Other errors pass
// through.
void write_output(const std::function<void()>& write);

// Calls `run`, and returns the message of its error, if any. OutputErrors pass through.
std::optional<std::string> error_of(const std::function<void()>& run);

// Writes `ir` to `path`, or to memory if `path` is empty, reads it back, and returns its program.
// Throws SerializeMismatch if what it reads differs, SerializationError or ValidationError if it is
// invalid, OutputError if it cannot be written.
Program serialize(const IR& ir, const std::string& path);

// Thrown if a graph, its weights, its inputs or its groups of nodes cannot be read, or do not fit
// together.
class LoadError : public Error {
 public:
  using Error::Error;
};

// Thrown if a graph that was written and read back has changed.
class SerializeMismatch : public Error {
 public:
  using Error::Error;
};

class OutputMismatch : public Error {
 public:
  using Error::Error;
};

// Records whether LibTorch's CPU allocator was refused memory. The allocator's error has no type of
// its own, and may be wrapped when it is caught.
class AllocationWatch {
 public:
  AllocationWatch();
  bool has_refused() const;

 private:
  int64_t num_refused_before_;
};

// Returns why the outputs of the model, which `run` returns, are no reference: "the model raises
// ...", or two runs differ, in memory that is filled differently. Empty if they are.
std::string reference_problem(const std::function<std::vector<at::Tensor>()>& run);

// Whether it says that something, an operator for example, is not supported.
bool is_unsupported(const std::exception& exception);

// Returns the kind of failure of an exception in a stage. The supervisor handles ended processes.
FailureKind failure_kind(Stage stage, const std::exception& exception,
                         const AllocationWatch& memory = AllocationWatch());

// Removes the folder of a run's files from `text`, because it differs from run to run.
std::string without_folder(std::string text, const std::string& folder);

}  // namespace torch_ir
