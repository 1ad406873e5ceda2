// Rows of cells as columns of text, for a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

using TextRows = std::vector<std::vector<std::string>>;

// A line for each row; all have as many cells. Columns are as wide as their widest cell, up to 100
// characters, with two spaces between them; nothing is behind the last cell. `alignment` has a '>'
// where the cells of a column stand at its right end.
std::string text_table(const TextRows& rows, std::string_view alignment = {});

}  // namespace torch_ir
