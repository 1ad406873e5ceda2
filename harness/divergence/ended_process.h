// reproduce_end: finds the smallest part of a graph that ends its process as the whole graph does:
// by the same signal, by hanging, or by running out of memory.
//
// It replaces the process of a model that ended in the stage execute, and runs the graph and its
// parts in further processes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "harness/divergence/reproducer.h"
#include "harness/process/worker.h"
#include "torch_ir/base/failure_kind.h"

namespace torch_ir {

struct EndedProcess {
  int trial = 0;
  // kCrashed, kTimedOut or kOutOfMemory.
  FailureKind kind = FailureKind::kCrashed;
  // In seconds, for the whole search.
  double timeout = 0;
  std::optional<int64_t> memory_limit = std::nullopt;
};

// Leaves the reproducer of `candidate` in repro/ of `directory`: first the whole graph, reported to
// `on_whole`, then the smallest part that was found, if any. A part that runs for a twentieth of
// `ended.timeout` counts as hanging; that part then runs again for up to a fifth. The caller fills
// in the message of the reproducer. Throws OutputError, and all errors of Candidate::extract; other
// errors of the model only end the search.
ReproducerSearch reproduce_end(Candidate& candidate, RunSettings settings,
                               const EndedProcess& ended, const std::string& directory,
                               const std::function<void(const ReproducerSearch&)>& on_whole);

inline constexpr const char* kPartTask = "part";
DoRequest run_part_task(const WorkJson& setup);

}  // namespace torch_ir
