#include "torch_ir/visualize/mermaid_label.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace torch_ir {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Letters, digits, and the bytes of characters outside ASCII.
bool is_word(char c) {
  return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Punctuation that means nothing to Mermaid; all other is written as an entity code.
bool is_plain(char c) {
  return is_word(c) || std::string_view(" .,-_/()?").find(c) != std::string_view::npos;
}

// Marks the characters to write as entity codes.
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

  // A run of underscores at the start of a word and one at the end of a word make emphasis of
  // what is between them ("__init__"); inside a word they mean nothing.
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

std::string mermaid_label(std::string_view text) {
  const Escapes escapes(text);
  std::string label;
  for (size_t i = 0; i < text.size(); ++i) {
    label += escapes[i] ? entity(text[i]) : std::string(1, text[i]);
  }
  return label;
}

}  // namespace torch_ir
