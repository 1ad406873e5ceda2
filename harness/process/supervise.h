// supervise: requests, spread over workers (worker.h).
//
// A request that crashes its worker, hangs, or takes too much memory costs itself only: another
// worker takes those behind it. The supervisor itself touches no tensor.
#pragma once

#include <signal.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "harness/process/worker.h"
#include "torch_ir/base/error.h"
#include "torch_ir/registry/failure_kind.h"

namespace torch_ir {

// While an InterruptGuard lives, SIGINT, SIGTERM and SIGHUP are remembered, so that a run can stop
// its children and leave nothing half-written behind.

// A run was stopped by SIGINT, SIGTERM or SIGHUP.
class Interrupted : public Error {
 public:
  using Error::Error;
};

class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // Whether a signal came since the guard was made; false where there is none.
  static bool interrupted();

 private:
  struct sigaction previous_interrupt_;
  struct sigaction previous_terminate_;
  struct sigaction previous_hangup_;
};

// What one request may take.
struct WorkLimits {
  std::chrono::duration<double> time = std::chrono::duration<double>::max();
  // Whether the time counts from the first news of the request, not from its start.
  bool counts_from_news = false;
  // Behind which nothing counts.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  // What its processes may keep in memory together, in bytes.
  std::optional<int64_t> memory = std::nullopt;
};

struct WorkRequest {
  // What the caller knows it by.
  size_t id = 0;
  WorkJson content = {};
  WorkLimits limits = {};
};

// How a worker ended that was at a request.
struct WorkEnd {
  // crashed, timed out, out of memory.
  FailureKind kind = FailureKind::kCrashed;
  // "was killed by signal 11 (Segmentation fault)", "was stopped after 5 s, the time limit".
  std::string description = {};
  // The last lines that it printed.
  std::string output = {};
  // Whether the deadline came first.
  bool is_cut_off = false;
};

struct Supervision {
  std::string task = {};
  // Asked for whenever a worker starts.
  std::function<WorkJson()> setup = [] { return WorkJson(); };
  // How many workers at once, and how many requests each takes before another takes its place.
  size_t jobs = 1;
  size_t requests_of_worker = 1;

  // The next request for the worker in place `slot`, below `jobs`; nothing for now. Asked again
  // until no worker is at a request.
  std::function<std::optional<WorkRequest>(size_t slot)> next;
  std::function<void(size_t id, const WorkJson& news)> on_news = [](size_t, const WorkJson&) {};
  // `end` where the worker came to a bad end behind its last answer.
  std::function<void(size_t id, const WorkJson& answer, const WorkEnd* end)> on_answer;
  std::function<void(size_t id, const WorkEnd& end)> on_end;
  // A few times a second.
  std::function<void()> on_wait = [] {};
};

// Comes back when there is nothing more to do, or after SIGINT, SIGTERM or SIGHUP under an
// InterruptGuard. No worker is left. Throws the OutputError of a worker.
void supervise(const Supervision& supervision);

}  // namespace torch_ir
