#include "torch_ir/visualize/labels.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "torch_ir/base/characters.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

constexpr size_t kMaxNameCharacters = 100;
constexpr size_t kMaxIdentifierCharacters = 64;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kEllipsis = "...";

// Letters, digits, and the bytes of characters outside ASCII.
bool is_word(char c) { return is_alphanumeric(c) || static_cast<unsigned char>(c) >= 0x80; }

// Punctuation without meaning to Mermaid; the rest is written as entity codes.
bool is_plain(char c) {
  return is_word(c) || std::string_view(" .,-_/()?").find(c) != std::string_view::npos;
}

// Marks the characters that Mermaid would not read as plain text.
std::vector<bool> find_special(std::string_view text) {
  std::vector<bool> is_special(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    // "Input: x" keeps its colon; "https://" and "fa:fa-car" do not.
    is_special[i] = !is_plain(text[i]) && !text.substr(i).starts_with(": ");
  }
  // "1. x", "1) x" and "- x" would be lists.
  const size_t first = text.find_first_not_of(' ');
  const size_t marker = text.find_first_not_of("0123456789", first);
  if (marker < text.size()) {
    const std::string_view markers = marker == first ? "-" : ".)";
    if (markers.find(text[marker]) != markers.npos) is_special[marker] = true;
  }
  // "www.x" would be a link, which flowcharts do not draw.
  for (size_t i = text.find("www."); i != text.npos; i = text.find("www.", i + 1)) {
    is_special[i + 3] = true;
  }
  // In Markdown, underscores at the start and the end of words make emphasis ("__init__"); inside a
  // word they mean nothing.
  std::vector<size_t> at_word_ends;
  bool opens = false;
  bool closes = false;
  for (size_t begin = text.find('_'); begin != text.npos;) {
    const size_t end = std::min(text.find_first_not_of('_', begin), text.size());
    const bool may_open = begin == 0 || !is_word(text[begin - 1]);
    const bool may_close = end == text.size() || !is_word(text[end]);
    opens = opens || may_open;
    closes = closes || may_close;
    for (size_t i = begin; i < end && (may_open || may_close); ++i) at_word_ends.push_back(i);
    begin = text.find('_', end);
  }
  for (const size_t i : at_word_ends) is_special[i] = is_special[i] || (opens && closes);
  return is_special;
}

std::string entity(char c) {
  if (c == '"') return "#quot;";
  return "#" + std::to_string(static_cast<int>(static_cast<unsigned char>(c))) + ";";
}

}  // namespace

std::string printable_name(std::string_view name) {
  std::string text;
  size_t count = 0;
  while (!name.empty()) {
    if (++count > kMaxNameCharacters) {
      text += kEllipsis;
      break;
    }
    const auto [length, code] = first_character(name);
    // C0, DEL and C1.
    const bool is_control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    text += length == 0 ? kReplacement : is_control ? " " : name.substr(0, length);
    name.remove_prefix(length == 0 ? 1 : length);
  }
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "(no name)";
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::string operator_label(std::string_view op_type) {
  constexpr std::string_view kNamespace = "aten.";
  constexpr std::string_view kOverload = ".default";
  std::string_view label = op_type;
  if (label.starts_with(kNamespace)) label.remove_prefix(kNamespace.size());
  if (label.ends_with(kOverload)) label.remove_suffix(kOverload.size());
  return std::string(label.empty() ? op_type : label);
}

std::string mermaid_label(std::string_view text) {
  const std::vector<bool> is_special = find_special(text);
  std::string label;
  for (size_t i = 0; i < text.size(); ++i) {
    label += is_special[i] ? entity(text[i]) : std::string(1, text[i]);
  }
  return label;
}

std::string Identifiers::make(std::string_view prefix, std::string_view name) {
  std::string base(prefix);
  base += name;
  if (base.size() > kMaxIdentifierCharacters) base.resize(kMaxIdentifierCharacters);
  for (char& c : base) {
    if (!is_alphanumeric(c)) c = '_';
  }
  std::string identifier = base;
  for (int64_t i = 2; !taken_.insert(identifier).second; ++i) {
    identifier = base + "_" + std::to_string(i);
  }
  return identifier;
}

}  // namespace torch_ir
