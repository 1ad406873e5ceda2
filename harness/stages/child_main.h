// The main function of a child process of the harness, and how its end is read.
//
// For those who start this program again to run a model (run/runner.h) or cases
// (suite/run_cases.h).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "torch_ir/registry/failure_kind.h"

namespace torch_ir {

// Calls `run`, under a keeper (process/keeper.h), and gives the exit status. An OutputError is
// handed to the parent. What `run` throws else is printed.
int child_main(const std::function<void()>& run);

// Throws the OutputError of the child that ended with `wait_status` after it had printed `output`,
// if that was why.
void rethrow_output_error(int wait_status, const std::string& output);

// Of a process that ended by itself after it had printed `output`: crashed, or out of memory.
FailureKind kind_of_crash(const std::string& output);

}  // namespace torch_ir
