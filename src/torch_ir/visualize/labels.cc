#include "torch_ir/visualize/labels.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

constexpr size_t kMaxNameCharacters = 100;
constexpr size_t kMaxIdentifierCharacters = 64;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kEllipsis = "...";

bool is_ascii_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// C0, DEL and C1.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

// Letters, digits, and the bytes of characters outside ASCII.
bool is_word(char c) { return is_ascii_alphanumeric(c) || static_cast<unsigned char>(c) >= 0x80; }

// Punctuation without meaning to Mermaid; the rest is written as entity codes.
bool is_plain(char c) {
  return is_word(c) || std::string_view(" .,-_/()?").find(c) != std::string_view::npos;
}

class Escapes {
 public:
  explicit Escapes(std::string_view text) : text_(text), escaped_(text.size(), false) {
    mark_punctuation();
    mark_list_marker();
    mark_emphasis();
    mark_web_addresses();
  }

  bool operator[](size_t i) const { return escaped_[i]; }

 private:
  void mark_punctuation() {
    for (size_t i = 0; i < text_.size(); ++i) {
      // "Input: x" keeps its colon; "https://" and "fa:fa-car" do not.
      const bool is_text_colon = text_.substr(i).starts_with(": ");
      escaped_[i] = !is_plain(text_[i]) && !is_text_colon;
    }
  }

  // "1. x", "1) x" and "- x" would be lists.
  void mark_list_marker() {
    const size_t first = text_.find_first_not_of(' ');
    if (first == std::string_view::npos) return;
    const size_t marker = text_.find_first_not_of("0123456789", first);
    if (marker == std::string_view::npos) return;
    const char c = text_[marker];
    const bool is_bullet = marker == first && c == '-';
    const bool ends_a_number = marker > first && (c == '.' || c == ')');
    if (is_bullet || ends_a_number) escaped_[marker] = true;
  }

  // In Markdown, underscores at the start and the end of words make emphasis ("__init__"); inside a
  // word they mean nothing.
  void mark_emphasis() {
    std::vector<size_t> at_word_ends;
    bool opens = false;
    bool closes = false;
    for (size_t begin = text_.find('_'); begin != std::string_view::npos;) {
      const size_t end = std::min(text_.find_first_not_of('_', begin), text_.size());
      const bool may_open = begin == 0 || !is_word(text_[begin - 1]);
      const bool may_close = end == text_.size() || !is_word(text_[end]);
      opens = opens || may_open;
      closes = closes || may_close;
      for (size_t i = begin; i < end && (may_open || may_close); ++i) at_word_ends.push_back(i);
      begin = text_.find('_', end);
    }
    if (!opens || !closes) return;
    for (const size_t i : at_word_ends) escaped_[i] = true;
  }

  // "www.x" would be a link, which flowcharts do not draw.
  void mark_web_addresses() {
    constexpr std::string_view kWww = "www.";
    for (size_t i = text_.find(kWww); i != std::string_view::npos; i = text_.find(kWww, i + 1)) {
      escaped_[i + kWww.size() - 1] = true;
    }
  }

  std::string_view text_;
  std::vector<bool> escaped_;
};

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
    const size_t length = character_size(name);
    const std::string_view character = length == 0 ? kReplacement : name.substr(0, length);
    text += is_control(character) ? " " : character;
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
  const Escapes escapes(text);
  std::string label;
  for (size_t i = 0; i < text.size(); ++i) {
    label += escapes[i] ? entity(text[i]) : std::string(1, text[i]);
  }
  return label;
}

std::string Identifiers::make(std::string_view prefix, std::string_view name) {
  std::string base(prefix);
  base += name;
  if (base.size() > kMaxIdentifierCharacters) base.resize(kMaxIdentifierCharacters);
  for (char& c : base) {
    if (!is_ascii_alphanumeric(c)) c = '_';
  }
  std::string identifier = base;
  for (int64_t i = 2; !taken_.insert(identifier).second; ++i) {
    identifier = base + "_" + std::to_string(i);
  }
  return identifier;
}

}  // namespace torch_ir
