#include "harness/report/markup.h"

#include <algorithm>
#include <cctype>
#include <span>
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

std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::replace(line.begin(), line.end(), '\r', ' ');
  return shown_text(line);
}

bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }

// True for "seed", false for "oneDNN", "aten::add" or "x_1".
bool starts_with_word(std::string_view text) {
  std::string_view word = text.substr(0, text.find(' '));
  if (word.ends_with(':') || word.ends_with(',')) word.remove_suffix(1);
  return !word.empty() && std::ranges::all_of(word, is_lower);
}

// The first three only in attributes, where a parser turns plain line breaks and tabs into spaces.
constexpr std::pair<std::string_view, std::string_view> kEscapes[] = {
    {"\n", "&#10;"},
    {"\t", "&#9;"},
    {"\"", "&quot;"},
    {"&", "&amp;"},
    {"<", "&lt;"},
    // "]]>" may not stand in text.
    {">", "&gt;"},
    // XML forbids U+FFFE and U+FFFF.
    {"\xef\xbf\xbe", "\\xef\\xbf\\xbe"},
    {"\xef\xbf\xbf", "\\xef\\xbf\\xbf"}};

std::string escape(std::string_view text, bool is_attribute) {
  const std::span escapes = std::span(kEscapes).subspan(is_attribute ? 0 : 3);
  std::string xml;
  while (!text.empty()) {
    // Invalid UTF-8 is escaped byte by byte.
    const std::string_view character = text.substr(0, std::max<size_t>(1, character_size(text)));
    text.remove_prefix(character.size());
    const auto known = std::ranges::find(escapes, character, [](auto& it) { return it.first; });
    if (known != escapes.end()) {
      xml += known->second;
    } else {
      xml += character == "\n" || character == "\t" ? std::string(character) : printable(character);
    }
  }
  return xml;
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
  std::string cell;
  for (const char c : markdown) {
    // Tables are split at bars before anything else is parsed, even code.
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

std::string xml_text(std::string_view text) { return escape(text, false); }

std::string xml_attribute(std::string_view text) { return escape(text, true); }

}  // namespace torch_ir
