#include "torch_ir/base/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <torch/version.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <vector>

#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"
#include "torch_ir/base/version.h"

namespace torch_ir {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_closed_pipe(int descriptor) {
  pollfd state{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return ::poll(&state, 1, 0) == 1 && (state.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

std::string version_text(const std::string& program, const std::optional<std::string>& onednn) {
  return program + " " + kVersion + " (LibTorch " TORCH_VERSION +
         (onednn ? ", oneDNN " + *onednn : "") + ")";
}

Terminal terminal_of(int descriptor) {
  Terminal terminal;
  terminal.is_terminal = ::isatty(descriptor) != 0 && variable("TERM") != "dumb";
  terminal.has_colours = terminal.is_terminal && variable("NO_COLOR").empty();
  winsize size = {};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) terminal.width = size.ws_col;
  return terminal;
}

std::string message_line(std::string_view program, std::string_view message) {
  const std::vector<std::string_view> lines = lines_of_problem_list(message);
  const std::string_view first = lines.empty() ? message : lines.front();
  std::string text = short_line(std::string(program) + ": " + std::string(first)) + '\n';
  for (size_t i = 1; i < lines.size(); ++i) text += "  " + short_line(lines[i]) + '\n';
  return text;
}

bool finish_output(std::ostream& out, std::ostream& err, const std::string& program) {
  if (out.flush()) return true;
  // A stream does not keep the reason of its failure.
  if (&out == &std::cout && is_closed_pipe(STDOUT_FILENO)) return true;
  err << message_line(program, "cannot write to the standard output");
  return false;
}

const void* torch_ir_copy() {
  static const char here = 0;
  return &here;
}

}  // namespace torch_ir
