// resident_bytes: how much memory the processes of a group keep.
//
// Asked by the runner while models run under a memory limit.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

namespace torch_ir {

// Of all processes that this one may see, summed by process group. What several of them share is
// counted for each.
std::map<pid_t, int64_t> resident_bytes();

}  // namespace torch_ir
