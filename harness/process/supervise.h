// supervise: distributes requests to workers (worker.h).
//
// A request that crashes its worker, hangs, or uses too much memory fails alone: another worker
// takes the requests after it. The supervisor itself touches no tensor.
#pragma once

#include <signal.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "harness/process/worker.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/failure_kind.h"

namespace torch_ir {

class Interrupted : public Error {
 public:
  using Error::Error;
};

// An InterruptGuard records SIGINT, SIGTERM and SIGHUP, so that a run can stop its children and
// leave nothing half-written.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // Whether a signal arrived since the guard was made; false without a guard.
  static bool interrupted();

 private:
  std::array<struct sigaction, 3> previous_;
};

struct WorkLimits {
  std::chrono::duration<double> time = std::chrono::duration<double>::max();
  // Whether `time` counts from the first news of the request rather than its start.
  bool counts_from_news = false;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  // In bytes, for all processes of the request.
  std::optional<int64_t> memory = std::nullopt;
};

struct WorkRequest {
  size_t id = 0;
  WorkJson content = {};
  WorkLimits limits = {};
};

struct WorkEnd {
  // kCrashed, kTimedOut or kOutOfMemory.
  FailureKind kind = FailureKind::kCrashed;
  // "was killed by signal 11 (Segmentation fault)", "exceeded the time limit of 5 s".
  std::string description = {};
  // The last lines that it printed.
  std::string output = {};
  // Whether WorkLimits::deadline passed before the time limit.
  bool is_cut_off = false;
};

struct Supervision {
  std::string task = {};
  // Called whenever a worker starts.
  std::function<WorkJson()> setup = [] { return WorkJson(); };
  // The number of concurrent workers, and the number of requests after which each is replaced.
  size_t jobs = 1;
  size_t requests_of_worker = 1;
  // Requests that are sent to a worker at once, so that it does not wait. Answers to several are
  // handled in batches.
  size_t requests_ahead = 1;

  // Returns the next request for the worker in `slot` < `jobs`, or nothing for now. Called again
  // until no worker is busy.
  std::function<std::optional<WorkRequest>(size_t slot)> next;
  std::function<void(size_t id, const WorkJson& news)> on_news = [](size_t, const WorkJson&) {};
  // `end` is set if the worker failed after its last answer.
  std::function<void(size_t id, const WorkJson& answer, const WorkEnd* end)> on_answer;
  std::function<void(size_t id, const WorkEnd& end)> on_end;
  // Called a few times a second.
  std::function<void()> on_wait = [] {};
};

// Returns when no request is left, or after SIGINT, SIGTERM or SIGHUP under an InterruptGuard.
// All workers have ended by then. Throws the OutputError of a worker.
void supervise(const Supervision& supervision);

}  // namespace torch_ir
