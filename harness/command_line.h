// The command line of the harness: from arguments to an exit status.
#pragma once

#include <iosfwd>

#include "harness/run/progress.h"

namespace torch_ir {

// What may be shown beside plain lines.
struct Screen {
  // Whether `err` is a terminal, which a bar is drawn on.
  bool has_bar = false;
  ProgressOptions progress = {};
};

// Does what the arguments ask for. Returns 0 when every model passed, 1 when one failed, 2 for bad
// arguments and for files that can not be written (one line on `err` says why), 130 when it was
// interrupted.
int harness_main(int argc, const char* const* argv, std::ostream& out, std::ostream& err,
                 const Screen& screen = Screen());

}  // namespace torch_ir
