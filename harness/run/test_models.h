// Models that go wrong in every way, and two that do not, for the tests of the harness.
#pragma once

namespace torch_ir {

// Sends `signal` to the harness that runs the model which calls this: the parent of the keeper.
void signal_harness(int signal);

}  // namespace torch_ir
