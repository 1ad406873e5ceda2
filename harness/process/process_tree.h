// Who started whom, as /proc tells it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace torch_ir {

struct ProcessState {
  pid_t process = 0;
  pid_t parent = 0;
  int64_t resident_bytes = 0;
};

// All that this process may see.
std::vector<ProcessState> list_processes();

}  // namespace torch_ir
