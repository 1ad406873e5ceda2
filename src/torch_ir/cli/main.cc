// torch-ir: inspects, draws, checks, runs and compares graphs: IR files and archives.

#include <iostream>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/cli/command.h"

int main(int argc, char** argv) {
  try {
    torch_ir::enter_user_directory();
  } catch (const torch_ir::Error& error) {
    std::cerr << "torch-ir: " << error.what() << '\n';
    return torch_ir::kBadInput;
  }
  return torch_ir::run_cli({argv + 1, argv + argc}, std::cout, std::cerr);
}
