// reproduce_end: the smallest part of a graph that ends its process, as the graph does when it runs
// again: by the same signal, by hanging, or by taking too much memory.
//
// Called for a model whose process ended in the stage execute, by a process that takes its place.
// The graph and its parts run in processes of their own, on what the model itself
// computes before them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "harness/divergence/reproducer.h"
#include "harness/process/worker.h"
#include "torch_ir/registry/failure_kind.h"

namespace torch_ir {

// A graph that ended its process, and what may be spent on looking for the smallest part of it that
// does so too.
struct EndedProcess {
  // Of which it ran on the inputs.
  int trial = 0;
  // crashed, timed out, or out of memory.
  FailureKind kind = FailureKind::kCrashed;
  // In seconds, for the whole search.
  double timeout = 0;
  // In bytes.
  std::optional<int64_t> memory_limit = std::nullopt;
};

// Leaves the reproducer in repro/ of `run.directory`: the whole graph with `run.inputs`, which
// `on_whole` hears of, and then the smallest part that was found, if any. A part that has not ended
// after a twentieth of `ended.timeout` counts as one that hangs; the one that is found has a fifth
// of it in the end. The note says what the search came to. The message of the reproducer is the
// caller's to fill in. Throws OutputError; what the model throws ends the search only.
ReproducerSearch reproduce_end(const ExplainedRun& run, const EndedProcess& ended,
                               const std::function<void(const ReproducerSearch&)>& on_whole);

// The task of the workers that run the graph and its parts.
inline constexpr const char* kPartTask = "part";
DoRequest run_part_task(const WorkJson& setup);

}  // namespace torch_ir
