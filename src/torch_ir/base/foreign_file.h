// Names files of other formats by their first bytes, and says what to do with them. Readers of
// graphs and of weights ask it about files that are none of theirs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

// "is a Git LFS pointer, not the file itself; run 'git lfs pull'": of a file that begins with
// `content`. Ends in `advice` where the format has none of its own. Empty for an unknown format.
std::string describe_foreign_file(std::string_view content, std::string_view advice);

// The same for a zip archive with these entries.
std::string describe_foreign_archive(const std::vector<std::string>& entries,
                                     std::string_view advice);

}  // namespace torch_ir
