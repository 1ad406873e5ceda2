#include "harness/report/markdown.h"

#include <algorithm>

#include "harness/report/plain_text.h"

namespace torch_ir {
namespace {

// Includes what GitHub adds: mentions, references, formulas, entities.
constexpr std::string_view kMarkup = "\\`*_[]<>~&$@#";
// Markup where a line starts.
constexpr std::string_view kLineMarkup = "+-=";

size_t longest_run(std::string_view text, char c) {
  size_t longest = 0;
  size_t run = 0;
  for (const char t : text) {
    run = t == c ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::replace(line.begin(), line.end(), '\r', ' ');
  return shown_text(line);
}

}  // namespace

std::string escape_markdown(std::string_view text) {
  std::string escaped;
  for (const char c : on_one_line(text)) {
    const bool starts_line = escaped.empty() && kLineMarkup.find(c) != std::string_view::npos;
    if (starts_line || kMarkup.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string code_span(std::string_view text) {
  if (text.empty()) return "";
  const std::string fence(longest_run(text, '`') + 1, '`');
  const std::string line = on_one_line(text);
  // One space at both ends is taken away again.
  const bool pad =
      line.front() == '`' || line.back() == '`' || (line.front() == ' ' && line.back() == ' ');
  return pad ? fence + " " + line + " " + fence : fence + line + fence;
}

std::string table_cell(std::string_view markdown) {
  std::string cell;
  for (const char c : markdown) {
    // A table is cut at its bars before anything else is looked for, code included.
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string code_block(std::string_view text, std::string_view language) {
  const std::string fence(std::max<size_t>(3, longest_run(text, '`') + 1), '`');
  std::string block = fence + std::string(language) + "\n" + shown_text(text);
  if (!text.empty() && text.back() != '\n') block += '\n';
  return block + fence + "\n";
}

}  // namespace torch_ir
