#include "torch_ir/base/finish_output.h"

#include <poll.h>
#include <unistd.h>

#include <iostream>

namespace torch_ir {

bool finish_output(std::ostream& out, std::ostream& err, const std::string& program) {
  if (out.flush()) return true;
  // What a stream failed of is not known afterwards.
  if (&out == &std::cout && is_closed_pipe(STDOUT_FILENO)) return true;
  err << program << ": cannot write to the standard output\n";
  return false;
}

bool is_closed_pipe(int descriptor) {
  pollfd state{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return ::poll(&state, 1, 0) == 1 && (state.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace torch_ir
