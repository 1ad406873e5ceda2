// InterruptGuard: Ctrl-C as a flag instead of the end of the process.
//
// While one lives, SIGINT, SIGTERM and SIGHUP are remembered, so that a run can stop its children
// and leave nothing half-written behind.
#pragma once

#include <signal.h>

#include "torch_ir/base/error.h"

namespace torch_ir {

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

}  // namespace torch_ir
