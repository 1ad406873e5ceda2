#include <unistd.h>

#include <csignal>
#include <iostream>

#include "harness/command_line.h"
#include "harness/run/run_as_child.h"
#include "torch_ir/base/terminal.h"

int main(int argc, char** argv) {
  if (const auto status = torch_ir::run_as_child(argc, argv)) return *status;
  // A reader that exits early, such as head, must not end the run.
  std::signal(SIGPIPE, SIG_IGN);
  const auto width = [] { return torch_ir::terminal_of(STDERR_FILENO).width; };
  const torch_ir::Screen screen{
      .has_bar = torch_ir::terminal_of(STDERR_FILENO).is_terminal,
      .progress = {.has_colours = torch_ir::terminal_of(STDOUT_FILENO).has_colours,
                   .width = width}};
  return torch_ir::harness_main(argc, argv, std::cout, std::cerr, screen);
}
