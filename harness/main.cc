#include <unistd.h>

#include <iostream>

#include "torch_ir/harness/command_line.h"
#include "torch_ir/harness/runner.h"

int main(int argc, char** argv) {
  if (const auto status = torch_ir::run_as_child(argc, argv)) return *status;
  return torch_ir::harness_main(argc, argv, std::cout, std::cerr, isatty(STDERR_FILENO) != 0);
}
