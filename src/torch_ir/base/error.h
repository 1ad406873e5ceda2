// The exceptions of torch-ir.
//
// Every failure that a caller can cause or fix is thrown as a class derived from torch_ir::Error,
// with one exception: execute_ir without weights throws std::invalid_argument, as the specification
// says. A message names the file, node or tensor and the values that disagree, and says what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace torch_ir {

// Marks an error whose input is understood but not supported: throw ExportError(kNotSupported,
// "...").
struct NotSupported {};
inline constexpr NotSupported kNotSupported;

// Base of all errors; thrown itself for failures that belong to no room, such as a file that cannot
// be written.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  Error(NotSupported, const std::string& what) : std::runtime_error(what), is_unsupported_(true) {}
  // Rewords `cause`, adding the file or the node.
  Error(const Error& cause, const std::string& what)
      : std::runtime_error(what), is_unsupported_(cause.is_unsupported_) {}

  bool is_unsupported() const { return is_unsupported_; }

 private:
  bool is_unsupported_ = false;
};

// A model cannot be captured, or an archive cannot be read.
struct ExportError : Error {
  using Error::Error;
};

// An exported program cannot be turned into an IR.
struct ConversionError : Error {
  using Error::Error;
};

// A file is not an IR, or an IR cannot be written as JSON.
struct SerializationError : Error {
  using Error::Error;
};

// An IR contradicts itself or the schema of an operator that it uses.
struct ValidationError : Error {
  using Error::Error;
};

// A file of weights cannot be read or written, or holds no state dict.
struct WeightError : Error {
  using Error::Error;
};

// A plan cannot be made or run: a value is missing, an input does not fit, an operator failed.
struct ExecutionError : Error {
  using Error::Error;
};

// A file of the harness itself cannot be written; ends the run.
struct OutputError : Error {
  using Error::Error;
};

// Files of the user do not fit together; ends the run, too.
struct InputError : Error {
  using Error::Error;
};

}  // namespace torch_ir
