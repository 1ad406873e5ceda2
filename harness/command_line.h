// harness_main: the command line of the harness, from arguments to an exit status.
#pragma once

#include <iosfwd>

#include "harness/run/progress.h"

namespace torch_ir {

struct Screen {
  // Whether `err` is a terminal that can show a progress bar.
  bool has_bar = false;
  ProgressOptions progress = {};
};

// Returns 0 if every model passed, 1 if one failed, 2 for bad arguments or files (with one line on
// `err`), 130 if interrupted.
int harness_main(int argc, const char* const* argv, std::ostream& out, std::ostream& err,
                 const Screen& screen = Screen());

}  // namespace torch_ir
