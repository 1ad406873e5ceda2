#include "harness/run/pattern_lines.h"

#include <fmt/format.h>

#include <sstream>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// Whether one letter differs, is missing or is added.
bool is_misspelt(std::string_view name, std::string_view right) {
  const auto [a, b] = std::ranges::mismatch(name, right);
  const std::string_view rest(a, name.end());
  const std::string_view rest_of_right(b, right.end());
  const auto after = [](std::string_view text) { return text.substr(text.empty() ? 0 : 1); };
  const auto is_digit = [](std::string_view text) {
    return !text.empty() && text[0] >= '0' && text[0] <= '9';
  };
  if (is_digit(rest) || is_digit(rest_of_right)) return false;
  return after(rest) == after(rest_of_right) || after(rest) == rest_of_right ||
         rest == after(rest_of_right);
}

}  // namespace

bool is_pattern(std::string_view name) { return name.find('*') != std::string_view::npos; }

// Where the text after a `*` differs, that `*` takes one more character.
bool matches_pattern(std::string_view pattern, std::string_view name) {
  size_t at = 0;
  size_t star = std::string_view::npos;
  size_t resume = 0;
  for (size_t i = 0; i < name.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      resume = i;
    } else if (at < pattern.size() && pattern[at] == name[i]) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

std::string read_pattern_lines(std::string_view text, const std::string& file,
                               const std::function<void(const PatternLine&)>& use) {
  std::string other_comments;
  std::string comments;
  const auto end_block = [&] {
    if (!comments.empty()) other_comments += std::exchange(comments, {}) + "\n";
  };
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string_view content = trimmed(line);
    if (content.empty()) end_block();
    if (content.starts_with('#')) comments += std::string(content) + "\n";
    if (content.empty() || content.starts_with('#')) continue;
    const size_t colon = std::min(content.find(':'), content.size());
    const std::string_view rest = content.substr(std::min(colon + 1, content.size()));
    try {
      use({.name = std::string(trimmed(content.substr(0, colon))),
           .content = std::string(trimmed(rest)),
           .comments = std::exchange(comments, {}),
           .line = number});
    } catch (const Error& error) {
      throw Error(fmt::format("{}:{}: {}", printable(file), number, error.what()));
    }
  }
  end_block();
  return other_comments;
}

void check_spelling(const std::string& name, int line, const std::string& file,
                    const std::vector<std::string>& known) {
  if (is_pattern(name)) return;
  if (std::ranges::find(known, name) != known.end()) return;
  for (const std::string& right : known) {
    if (!is_misspelt(name, right)) continue;
    throw Error(fmt::format("{}:{}: unknown name '{}'; did you mean '{}'?", printable(file), line,
                            printable(name), printable(right)));
  }
}

}  // namespace torch_ir
