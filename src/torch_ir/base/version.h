// The version of torch-ir. The CMake package and the wheel read it from the output of the programs.
// CHANGELOG.md says what a version promises.
#pragma once

namespace torch_ir {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace torch_ir
