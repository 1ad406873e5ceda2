// run_part: a graph that may crash, hang or eat the memory, run on a backend in a process of its
// own.
//
// How the search for a reproducer looks at parts of a graph that ended its process. The process is
// this program once more, as that of a model is.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "harness/results/result.h"

namespace torch_ir {

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

// To be called first in the main function: when the process is such a one, runs its part and gives
// the exit status.
std::optional<int> run_part_as_child(int argc, char** argv);

}  // namespace torch_ir
