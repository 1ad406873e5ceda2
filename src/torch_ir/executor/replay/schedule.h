// Schedule: a trace with a place for each of its values.
//
// Immutable, shared by all frames that run it.
#pragma once

#include <cstddef>
#include <vector>

#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/executor/replay/trace.h"

namespace torch_ir {

// LibTorch's allocator aligns so. MKL's last bits depend on it.
inline constexpr size_t kAlignment = 64;

enum class Place {
  // Not of the run: an input or a constant.
  kOutside,
  // At an offset in the arena.
  kArena,
  // Memory of its own, that the caller gets.
  kOutput,
  // Memory that the operator returns.
  kReturned,
  // Nowhere: nobody writes or reads it.
  kNowhere,
};

// Which results of a call need a place.
enum class NeededMemory {
  kAll,
  // Those that somebody reads.
  kUsed,
  // None: the operator makes them itself.
  kNone,
};

struct BufferPlace {
  Place place = Place::kOutside;
  size_t offset = 0;
  // The buffer whose memory it takes when nobody reads that any more; itself where it takes none.
  BufferId owner = 0;
  // The calls that define it and that are the last to use its memory.
  size_t first_call = 0;
  size_t last_call = 0;
};

struct Schedule {
  Trace trace;
  // Of the program's outputs; the trace has them for tensors only.
  std::vector<c10::ScalarType> output_dtypes;
  // One for each of the trace's buffers.
  std::vector<BufferPlace> places;
  size_t arena_bytes = 0;
  PlanMemory memory;
};

struct ScheduleOptions {
  bool reuse_memory = true;
  // For each call; empty: all results of all calls.
  std::vector<NeededMemory> needs;
};

Schedule make_schedule(Trace trace, std::vector<c10::ScalarType> output_dtypes,
                       const ScheduleOptions& options);

}  // namespace torch_ir
