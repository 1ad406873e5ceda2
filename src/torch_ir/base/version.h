// What the programs print for --version, from which the CMake package takes its versions too.
#pragma once

#include <string>

namespace torch_ir {

// "torch-ir 0.1.0 (LibTorch 2.13.0)": the program, this version, and LibTorch's.
std::string version_text(const std::string& program);

}  // namespace torch_ir
