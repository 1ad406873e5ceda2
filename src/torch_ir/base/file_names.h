// Names of files that are made of other names, such as those of models.
#pragma once

#include <string>
#include <string_view>

namespace torch_ir {

// `text` as a file name, at most kMaxNameBytes long, that every file system, HTML and a shell can
// have: letters and digits of all scripts, "_", "-" and ".". Characters that file systems may
// replace by others become "_u0301"; what else is left becomes "_". Texts that differ only by
// Unicode's normalisation get different names.
std::string file_name_of(std::string_view text);

// Equal for names that a file system that ignores case holds for the same.
std::u32string without_case(std::string_view name);

}  // namespace torch_ir
