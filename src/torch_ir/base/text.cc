#include "torch_ir/base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

namespace torch_ir {
namespace {

constexpr std::string_view kIndent = "  ";
constexpr std::string_view kMore = "... and ";

}  // namespace

std::string with_thousands_separators(int64_t value) {
  std::string text = std::to_string(value);
  const int64_t first_digit = value < 0 ? 1 : 0;
  for (int64_t i = static_cast<int64_t>(text.size()) - 3; i > first_digit; i -= 3) {
    text.insert(static_cast<size_t>(i), 1, ',');
  }
  return text;
}

std::string counted(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", with_thousands_separators(count), noun, count == 1 ? "" : "s");
}

std::string listed(const std::vector<std::string>& items, size_t max_shown, size_t total) {
  const auto num_shown = std::min(items.size(), max_shown);
  const size_t num_more = std::max(total, items.size()) - num_shown;
  return fmt::format("{}{}", fmt::join(std::span(items).first(num_shown), ", "),
                     num_more > 0 ? fmt::format(" and {} more", num_more) : "");
}

std::string problem_list(const std::vector<std::string>& problems, std::string_view what) {
  if (problems.size() == 1) return problems.front();
  size_t count = 0;
  for (const std::string& problem : problems) {
    count += problem.starts_with(kMore) ? std::stoul(problem.substr(kMore.size())) : 1;
  }
  const std::string line_break = fmt::format("\n{}", kIndent);
  return fmt::format("{} problems with {}:{}{}", count, what, line_break,
                     fmt::join(problems, line_break));
}

std::vector<std::string_view> lines_of_problem_list(std::string_view message) {
  std::vector<std::string_view> lines;
  for (std::string_view rest = message; !rest.empty();) {
    const size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    const bool is_listed = line.starts_with(kIndent);
    if (is_listed == lines.empty()) return {};
    if (is_listed) line.remove_prefix(kIndent.size());
    lines.push_back(line);
  }
  const bool is_list = lines.size() > 1 && lines.front().ends_with(':');
  return is_list ? lines : std::vector<std::string_view>();
}

}  // namespace torch_ir
