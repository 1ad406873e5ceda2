// The version of torch-ir, in this place alone: the programs say it, and what they say goes into
// the CMake package and the wheel. CHANGELOG.md says what a version promises.
#pragma once

namespace torch_ir {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace torch_ir
