// From an exception in a stage to the kind of failure that it is.
//
// Called by run_model; the runner knows by itself what ended a process.
#pragma once

#include <exception>

#include "harness/results/result.h"
#include "torch_ir/base/error.h"

namespace torch_ir {

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

FailureKind failure_kind(Stage stage, const std::exception& exception);

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
