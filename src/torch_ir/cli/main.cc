// torch-ir: inspect, draw, check, run and compare IR files.

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "torch_ir/cli/command.h"
#include "torch_ir/cli/run_cli.h"

int main(int argc, char** argv) {
  // `bazel run` starts programs elsewhere; paths mean the directory where it was typed.
  const char* directory = std::getenv("BUILD_WORKING_DIRECTORY");
  if (directory != nullptr && chdir(directory) != 0) {
    std::cerr << "torch-ir: cannot change to BUILD_WORKING_DIRECTORY '" << directory
              << "': " << std::strerror(errno) << '\n';
    return torch_ir::kBadInput;
  }
  return torch_ir::run_cli({argv + 1, argv + argc}, std::cout, std::cerr);
}
