// trace_program: the trace of a program for inputs of one layout, by running it once.
#ifndef TORCH_IR_EXECUTOR_TRACE_TRACE_PROGRAM_H_
#define TORCH_IR_EXECUTOR_TRACE_TRACE_PROGRAM_H_

#include <optional>
#include <vector>

#include "torch_ir/executor/program.h"
#include "torch_ir/executor/trace/trace.h"

namespace torch_ir {

struct TraceOptions {
  bool fold_constants = true;
  // Whether to throw ExecutionError where an output of a node is not what the IR says.
  bool is_checked = false;
};

// Nothing where the program can not be replayed: its sizes depend on data, it draws random numbers,
// it writes to inputs or weights, or runs executors or control flow. Throws ExecutionError as
// run_program does.
std::optional<Trace> trace_program(const Program& program, const std::vector<at::Tensor>& inputs,
                                   const TraceOptions& options);

}  // namespace torch_ir

#endif  // TORCH_IR_EXECUTOR_TRACE_TRACE_PROGRAM_H_
