// Making the directories of reports, and what is said where they can not be written.
#pragma once

#include <filesystem>
#include <string>

#include "torch_ir/base/error.h"

namespace torch_ir {

// "cannot write the reports to 'PATH': REASON"
Error cannot_write(const std::filesystem::path& path, const std::string& reason);

// With those above it, as far as they are missing. Throws cannot_write.
void make_directory(const std::filesystem::path& directory);

}  // namespace torch_ir
