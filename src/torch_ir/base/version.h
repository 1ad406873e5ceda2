// The version of torch-ir. The CMake package and the wheel read it from the output of the programs.
// CHANGELOG.md says what a version promises.
#pragma once

#define TORCH_IR_VERSION "0.1.0"

namespace torch_ir {

inline constexpr const char* kVersion = TORCH_IR_VERSION;

}  // namespace torch_ir
