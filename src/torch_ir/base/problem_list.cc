#include "torch_ir/base/problem_list.h"

namespace torch_ir {
namespace {

constexpr std::string_view kIndent = "  ";
constexpr std::string_view kMore = "... and ";

}  // namespace

std::string problem_list(const std::vector<std::string>& problems, std::string_view what) {
  if (problems.size() == 1) return problems.front();
  size_t count = 0;
  for (const std::string& problem : problems) {
    count += problem.starts_with(kMore) ? std::stoul(problem.substr(kMore.size())) : 1;
  }
  std::string text = std::to_string(count) + " problems with ";
  text.append(what).append(":");
  for (const std::string& problem : problems) text.append("\n").append(kIndent).append(problem);
  return text;
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
