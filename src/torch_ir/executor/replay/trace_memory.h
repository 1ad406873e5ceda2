// place_buffers: where in memory each buffer of a trace lies while it runs.
#pragma once

#include <vector>

#include "torch_ir/executor/replay/trace.h"

namespace torch_ir {

// Which results of a call need a place.
enum class NeededMemory {
  kAll,
  // Those that somebody reads.
  kUsed,
  // None: the operator makes them itself.
  kNone,
};

// Sets the places of all buffers, and Trace::memory. `needs` has one entry for each call; empty:
// all results of all calls. `reuse_memory` is that of ExecutionOptions.
void place_buffers(Trace& trace, bool reuse_memory, const std::vector<NeededMemory>& needs = {});

}  // namespace torch_ir
