// The keeper of a child process: sees that nothing outlives it.
//
// Between the harness and each process that runs models stands a small one, its keeper. All that a
// model, or the shell of an executor, starts belongs to the keeper, whatever group or session it
// moves to; and when the model's process has ended, or the harness has, however it ended, the
// keeper ends the rest and then itself.
//
// Two limits. No signal ends a keeper but SIGKILL, and SIGSTOP stops it until the harness ends it:
// a model that kills its parent dies with it, and what the model has started lives on. And what can
// not be killed, a process that has become another user or that the system holds, is waited for two
// seconds.
#pragma once

namespace torch_ir {

// Called first by a child that ChildProcess started: what returns is a new process that goes on;
// the one that called stays as its keeper, ends as that ends, and does not return. Throws Error
// when the system refuses. Gives a descriptor of what was the standard input, which is nothing
// now.
int continue_under_keeper();

}  // namespace torch_ir
