#include "harness/report/markup.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <utility>

#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// Includes GitHub's extensions: mentions, references, formulas, entities.
constexpr std::string_view kMarkup = "\\`*_[]<>~&$@#";
// Markup at the start of a line.
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

using Replacements = std::initializer_list<std::pair<std::string_view, std::string_view>>;

std::string replaced(std::string text, Replacements replacements) {
  for (const auto& [from, to] : replacements) c10::ReplaceAll(text, from, to);
  return text;
}

std::string on_one_line(std::string_view text) {
  return shown_text(replaced(std::string(text), {{"\n", " "}, {"\r", " "}}));
}

// True for "seed", false for "oneDNN", "aten::add" or "x_1".
bool starts_with_word(std::string_view text) {
  std::string_view word = text.substr(0, text.find(' '));
  if (word.ends_with(':') || word.ends_with(',')) word.remove_suffix(1);
  return !word.empty() &&
         std::ranges::all_of(word, [](unsigned char c) { return std::islower(c); });
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
  // Markdown removes one space from both ends.
  const bool pad =
      line.front() == '`' || line.back() == '`' || (line.front() == ' ' && line.back() == ' ');
  return pad ? fence + " " + line + " " + fence : fence + line + fence;
}

const Style kMarkdown = {.code = code_span,
                         .text = escape_markdown,
                         .strong = [](const auto& text) { return "**" + text + "**"; }};
const Style kPlain = {.code = std::identity(), .text = std::identity(), .strong = std::identity()};

std::string table_cell(std::string_view markdown) {
  // Tables are split at bars before anything else is parsed, even code.
  return replaced(std::string(markdown), {{"|", "\\|"}});
}

std::string code_block(std::string_view text, std::string_view language) {
  const std::string fence(std::max<size_t>(3, longest_run(text, '`') + 1), '`');
  std::string block = fence + std::string(language) + "\n" + shown_text(text);
  if (!text.empty() && text.back() != '\n') block += '\n';
  return block + fence + "\n";
}

std::string shown_text(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\n\t"), text.size());
    shown += printable(text.substr(0, end), text.npos);
    shown += text.substr(end, 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return shown;
}

std::string as_sentence(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.pop_back();
  }
  if (text.empty()) return text;
  if (starts_with_word(text)) text[0] = static_cast<char>(text[0] - 'a' + 'A');
  if (std::string_view(".!?:").find(text.back()) == std::string_view::npos) text += '.';
  return text;
}

std::string xml_text(std::string_view text) {
  // "]]>" may not stand in text, and XML forbids U+FFFE and U+FFFF.
  return replaced(shown_text(text), {{"&", "&amp;"},
                                     {"<", "&lt;"},
                                     {">", "&gt;"},
                                     {"\ufffe", "\\xef\\xbf\\xbe"},
                                     {"\uffff", "\\xef\\xbf\\xbf"}});
}

std::string xml_attribute(std::string_view text) {
  // A parser turns plain line breaks and tabs into spaces.
  return replaced(xml_text(text), {{"\"", "&quot;"}, {"\n", "&#10;"}, {"\t", "&#9;"}});
}

}  // namespace torch_ir
