// Where a command writes, checked before it does anything.
#pragma once

#include <string>
#include <vector>

namespace torch_ir {

// Throws Error when `output` is the same file as one of `inputs`, by whatever path. An empty path
// is none.
void refuse_to_overwrite(const std::string& output, const std::vector<std::string>& inputs);

}  // namespace torch_ir
