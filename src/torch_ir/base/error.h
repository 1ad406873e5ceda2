// The exceptions of torch-ir.
//
// Every failure that a caller can cause or mend is thrown as a class derived from
// torch_ir::Error, so that one catch is enough. A message names the file, node or tensor it is
// about and the values that disagree, and says what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace torch_ir {

// Says of an error that it refuses what is understood, but not supported:
// throw ExportError(kNotSupported, "...").
struct NotSupported {};
inline constexpr NotSupported kNotSupported;

// Base of all errors; thrown itself for what belongs to no room, such as a file that can not be
// written.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  Error(NotSupported, const std::string& what) : std::runtime_error(what), is_unsupported_(true) {}
  // `cause`, said in other words: with the file or the node that it is about.
  Error(const Error& cause, const std::string& what)
      : std::runtime_error(what), is_unsupported_(cause.is_unsupported_) {}

  bool is_unsupported() const { return is_unsupported_; }

 private:
  bool is_unsupported_ = false;
};

// A model can not be captured, or an archive can not be read.
class ExportError : public Error {
 public:
  using Error::Error;
};

// An exported program can not be turned into an IR.
class ConversionError : public Error {
 public:
  using Error::Error;
};

// A file is not an IR, or an IR can not be written as JSON.
class SerializationError : public Error {
 public:
  using Error::Error;
};

// An IR contradicts itself or the schema of an operator that it uses.
class ValidationError : public Error {
 public:
  using Error::Error;
};

// A file of weights can not be read or written, or holds no state dict.
class WeightError : public Error {
 public:
  using Error::Error;
};

// A plan can not be made or run: a value is missing, an input does not fit, an operator failed.
class ExecutionError : public Error {
 public:
  using Error::Error;
};

}  // namespace torch_ir
