#include "harness/regression/golden.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "harness/regression/reference_pages.h"
#include "torch_ir/analysis/diff.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {
namespace {

// Of each side; what follows is only counted.
constexpr size_t kMaxLines = 12;

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void append_lines(std::string& out, char sign, const std::vector<std::string_view>& lines,
                  size_t first, size_t last) {
  for (size_t i = first; i < std::min(last, first + kMaxLines); ++i) {
    out += fmt::format("{}{}\n", sign, printable(lines[i]));
  }
  if (last > first + kMaxLines) {
    out += fmt::format("{}... {} more lines\n", sign, last - first - kMaxLines);
  }
}

// The lines between those that both begin with and those that both end with.
std::string changed_lines(std::string_view golden, std::string_view now) {
  const std::vector<std::string_view> before = split_lines(golden);
  const std::vector<std::string_view> after = split_lines(now);
  const auto head = std::ranges::mismatch(before, after);
  const size_t first = static_cast<size_t>(head.in1 - before.begin());
  size_t before_end = before.size();
  size_t after_end = after.size();
  while (before_end > first && after_end > first &&
         before[before_end - 1] == after[after_end - 1]) {
    --before_end;
    --after_end;
  }
  std::string out = fmt::format("line {}:\n", first + 1);
  append_lines(out, '-', before, first, before_end);
  append_lines(out, '+', after, first, after_end);
  return out;
}

}  // namespace

std::string graph_difference(const std::string& golden, const std::string& now) {
  const IR before = IR::from_json(portable_graph(golden));
  const IR after = IR::from_json(portable_graph(now));
  if (before == after) return "";
  const GraphDiff difference = diff(before, after);
  std::string out = summary_text(difference) + '\n';
  for (const Change& change : difference.changes) out += change_text(change) + '\n';
  for (const Rename& rename : difference.renames) {
    out += fmt::format("{} is now called {}\n", printable(rename.before), printable(rename.after));
  }
  return out;
}

std::string page_difference(const std::string& golden, const std::string& now) {
  return same_page(golden, now) ? "" : changed_lines(golden, now);
}

}  // namespace torch_ir
