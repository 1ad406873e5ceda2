// run_as_child: what a program does when it was started as a worker.
#pragma once

#include <optional>

namespace torch_ir {

// Every program that runs candidates or makes suites must call this first in main. In a worker,
// does the work and returns the exit status; otherwise returns nothing.
std::optional<int> run_as_child(int argc, char** argv);

}  // namespace torch_ir
