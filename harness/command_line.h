// The command line of the harness: from arguments to an exit status.
#pragma once

#include <iosfwd>

#include "harness/run/progress.h"

namespace torch_ir {

struct Screen {
  // Whether `err` is a terminal that can show a progress bar.
  bool has_bar = false;
  ProgressOptions progress = {};
};

// Returns 0 when every model passed, 1 when one failed, 2 for bad arguments or files that cannot be
// written (with one line on `err`), 130 when interrupted.
int harness_main(int argc, const char* const* argv, std::ostream& out, std::ostream& err,
                 const Screen& screen = Screen());

}  // namespace torch_ir
