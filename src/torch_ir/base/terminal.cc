#include "torch_ir/base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace torch_ir {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Terminal terminal_of(int descriptor) {
  Terminal terminal;
  terminal.is_terminal = ::isatty(descriptor) != 0 && variable("TERM") != "dumb";
  terminal.has_colours = terminal.is_terminal && variable("NO_COLOR").empty();
  winsize size = {};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) terminal.width = size.ws_col;
  return terminal;
}

}  // namespace torch_ir
