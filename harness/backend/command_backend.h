// The command backend: graphs run by an external program.
//
// What `harness --executor COMMAND` compares with the models: an accelerator's simulator, another
// runtime. The command is a line for /bin/sh, run once for each run of a graph, in the directory
// where the user started the harness, with the paths of four files in place of
//
//   {ir}       the graph: IR JSON, the values of its constants included
//   {weights}  safetensors by the names of the IR's weights (the state dict's names); constants
//              that are too large for JSON among them
//   {inputs}   safetensors by the names of the graph inputs
//   {outputs}  where it writes safetensors by the names of the graph outputs: all of them, of the
//              dtypes and shapes that the IR says
//
// and, with --executor-intermediates, in place of
//
//   {intermediates}  where it writes safetensors by the names of the values that nodes make: those
//                    that it has; others are taken as not computed on their own
//
// Numbers among inputs, outputs and values are tensors without dimensions: int64, float64 or bool.
// The symbols of a dynamic shape have no file: their values are in the shapes of the inputs. An
// output that occurs twice, or is an input or a weight, is in the file once, under its name.
//
// The command succeeds with status 0. Status 3 says that it does not support the graph, which is a
// status of its own where single operators are run (--suite operators, --split). All else is an
// error of the model. With both go the last lines that it printed. It is ended with its model's
// process, unless the harness itself was killed.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "harness/backend/backend.h"
#include "harness/backend/shell_command.h"
#include "torch_ir/base/error.h"

namespace torch_ir {

// The command did not exit with status 0, nor with that for graphs it does not support.
class CommandFailure : public ExecutionError {
 public:
  CommandFailure(const std::string& message, CommandEnd end)
      : ExecutionError(message), end_(std::move(end)) {}

  const CommandEnd& end() const { return end_; }

 private:
  CommandEnd end_;
};

// Throws Error, naming the flag, when `command` lacks a placeholder or has one that is unknown.
void check_executor_command(const std::string& command, bool has_intermediates);

// For `options.command`, with its files in `options.directory`. Throws Error for a command that
// check_executor_command does not take. Runs throw ExecutionError for what the command did wrong,
// OutputError for files that can not be written.
std::unique_ptr<Backend> make_command_backend(const BackendOptions& options);

}  // namespace torch_ir
