// The command line of the harness: from arguments to an exit status.
#ifndef TORCH_IR_HARNESS_COMMAND_LINE_H_
#define TORCH_IR_HARNESS_COMMAND_LINE_H_

#include <iosfwd>

namespace torch_ir {

// Does what the arguments ask for. Returns 0 when every model passed, 1 when one failed, 2 for bad
// arguments and for files that can not be written (one line on `err` says why), 130 when it was
// interrupted. A bar is drawn on `err` when `err_is_terminal`.
int harness_main(int argc, const char* const* argv, std::ostream& out, std::ostream& err,
                 bool err_is_terminal);

}  // namespace torch_ir

#endif  // TORCH_IR_HARNESS_COMMAND_LINE_H_
