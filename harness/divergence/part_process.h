// run_part: a graph that may crash, hang or eat the memory, run on a backend in a process of its
// own.
//
// How the search for a reproducer looks at parts of a graph that ended its process.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "harness/process/worker.h"
#include "harness/results/result.h"

namespace torch_ir {

// The name of the task below.
inline constexpr const char* kPartTask = "part";

struct PartLimits {
  // From where the graph begins to run, not the process.
  std::chrono::duration<double> run = {};
  // Behind which nothing counts.
  std::chrono::steady_clock::time_point deadline = {};
  // What its processes may keep in memory together, in bytes.
  std::optional<int64_t> memory = std::nullopt;
};

// How a graph ended its process.
struct PartEnd {
  FailureKind kind = FailureKind::kCrashed;
  // "was killed by signal 11 (Segmentation fault)", of a crash.
  std::string description = {};

  bool operator==(const PartEnd&) const = default;
};

struct PartRun {
  // Nothing for a graph that comes to an end, by an error too, and for one that was not seen to.
  std::optional<PartEnd> end = std::nullopt;
  // Whether it had its weights and ran.
  bool has_begun = false;
  // Whether the deadline came first.
  bool is_cut_off = false;
};

// Runs what write_reproducer wrote to `directory`, once, as `settings` say. Throws OutputError.
PartRun run_part(const std::string& directory, const RunSettings& settings,
                 const PartLimits& limits);

// What a worker does for it.
DoRequest run_part_task(const WorkJson& setup);

}  // namespace torch_ir
