// The command backend: runs graphs with an external program, e.g. an accelerator's simulator.
//
// `harness --executor COMMAND` takes a line for /bin/sh. It runs once for each run of a graph, in
// the directory where the user started the harness, with the paths of files in place of
//
//   {ir}       the graph as IR JSON, with the values of its constants
//   {weights}  safetensors by the names of the IR's weights (the state dict's names), constants too
//   {inputs}   safetensors by the names of the graph inputs
//   {outputs}  the command writes safetensors by the names of the graph outputs here: all of them,
//              with the dtypes and shapes of the IR. The new values of state have the names of what
//              is written (ir_format.md); those it leaves out are not compared
//   {intermediates}  optional: the command writes safetensors by the names of node values here, and
//                    they are compared as with --per-node; missing values are counted, and
//                    unknown names are listed
//   {groups}   optional: the command may write the groups of nodes that it fuses here
//              (groups_format.md)
//
// Numbers are tensors without dimensions: int64, float64 or bool. Dynamic shapes need no file for
// their symbols: the shapes of the inputs have the values. An output that occurs twice, or is an
// input or a weight, is in the file once, under its name.
//
// A command without any placeholder is a server, unless it is the name of a C++ backend
// (backend.h). It starts once for each of --jobs, reads requests for the same files and answers
// them (executor_protocol.md).
//
// Exit status 0 is success. Status 3 means that the command does not support the graph, which is an
// outcome of its own for single operators (--suite operators, --split). Any other end is an error
// of the model. Both report the last lines that the command printed. The command ends with its
// model's process.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "harness/backend/backend.h"
#include "harness/backend/shell_command.h"
#include "harness/results/result.h"
#include "torch_ir/base/error.h"

namespace torch_ir {

// Thrown when the command fails, other than for an unsupported graph.
class CommandFailure : public ExecutionError {
 public:
  CommandFailure(const std::string& message, CommandEnd end)
      : ExecutionError(message), end_(std::move(end)) {}

  const CommandEnd& end() const { return end_; }

 private:
  CommandEnd end_;
};

// Follows in messages what a server did instead of an answer.
inline constexpr const char* kServerHint = " (a command without {ir} is run as a server)";

// Whether `command` is a server. Throws Error, naming the flag, when it is empty, has some of the
// placeholders that are not optional but not all, or has an unknown one.
bool is_executor_server(const std::string& command);

// Whether both have the same tensors, in the same memory, under the same names.
bool has_same_tensors(const StateDict& a, const StateDict& b);

// Makes the backend for the executor of `settings`, with files in `directory`. Throws Error
// for a wrong placeholder. Runs throw ExecutionError when the command fails, OutputError when files
// cannot be written.
std::unique_ptr<Backend> make_command_backend(const RunSettings& settings,
                                              const std::string& directory);

}  // namespace torch_ir
