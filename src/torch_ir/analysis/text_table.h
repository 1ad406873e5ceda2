// text_table: formats rows of cells as columns of text, for a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

using TextRows = std::vector<std::vector<std::string>>;

// One line per row; all rows have the same number of cells. Columns are as wide as their widest
// cell, up to 100 characters, with two spaces between them and no trailing space. A '>' in
// `alignment` right-aligns its column.
std::string text_table(const TextRows& rows, std::string_view alignment = {});

}  // namespace torch_ir
