// What the programs print for --version, from which the CMake package takes its versions too.
#ifndef TORCH_IR_BASE_VERSION_H_
#define TORCH_IR_BASE_VERSION_H_

#include <string>

namespace torch_ir {

// "torch-ir 0.1.0 (LibTorch 2.13.0)": the program, this version, and LibTorch's.
std::string version_text(const std::string& program);

}  // namespace torch_ir

#endif  // TORCH_IR_BASE_VERSION_H_
