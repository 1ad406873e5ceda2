#include "harness/process/interrupt.h"

namespace torch_ir {
namespace {

volatile sig_atomic_t signal_came = 0;

void remember(int) { signal_came = 1; }

}  // namespace

InterruptGuard::InterruptGuard() {
  signal_came = 0;
  // Without SA_RESTART: waiting ends early, and the flag is seen.
  struct sigaction action = {};
  action.sa_handler = remember;
  sigaction(SIGINT, &action, &previous_interrupt_);
  sigaction(SIGTERM, &action, &previous_terminate_);
  sigaction(SIGHUP, &action, &previous_hangup_);
}

InterruptGuard::~InterruptGuard() {
  signal_came = 0;
  sigaction(SIGINT, &previous_interrupt_, nullptr);
  sigaction(SIGTERM, &previous_terminate_, nullptr);
  sigaction(SIGHUP, &previous_hangup_, nullptr);
}

bool InterruptGuard::interrupted() { return signal_came != 0; }

}  // namespace torch_ir
