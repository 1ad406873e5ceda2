#include "torch_ir/analysis/text_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace torch_ir {

std::string text_table(const TextRows& rows, std::string_view alignment) {
  // Longer cells shift the rest of their own line only.
  constexpr size_t kMaxWidth = 100;
  std::string text;
  std::vector<size_t> widths(rows.empty() ? 0 : rows.front().size(), 0);
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::clamp(row[i].size(), widths[i], kMaxWidth);
    }
  }
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const bool is_last = i + 1 == row.size();
      const bool is_right = i < alignment.size() && alignment[i] == '>';
      const size_t width = is_last && !is_right ? 0 : widths[i];
      text += is_right ? fmt::format("{:>{}}", row[i], width) : fmt::format("{:{}}", row[i], width);
      text += is_last ? "\n" : "  ";
    }
  }
  return text;
}

}  // namespace torch_ir
