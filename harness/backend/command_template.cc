#include "harness/backend/command_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/suggestion.h"

namespace torch_ir {
namespace {

// The word of "{word}" at the front of `text`; empty where there is none.
std::string_view word_in_braces(std::string_view text) {
  const size_t end = text.find('}');
  if (!text.starts_with('{') || end == std::string_view::npos) return {};
  const std::string_view word = text.substr(1, end - 1);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return std::ranges::all_of(word, is_letter) ? word : std::string_view();
}

// "{ir}, {weights} and {inputs}"
std::string list_text(const std::vector<std::string>& placeholders) {
  std::string text;
  for (size_t i = 0; i < placeholders.size(); ++i) {
    const bool is_last = i + 1 == placeholders.size();
    text += fmt::format("{}{{{}}}", i == 0 ? "" : is_last ? " and " : ", ", placeholders[i]);
  }
  return text;
}

}  // namespace

class CommandTemplate::Parser {
 public:
  explicit Parser(std::string_view line) : rest_(line) {}

  std::vector<Piece> parse() {
    while (!rest_.empty()) read();
    pieces_.push_back(std::move(piece_));
    return std::move(pieces_);
  }

 private:
  void read() {
    const std::string_view word = word_in_braces(rest_);
    if (is_pair_of_the_shell()) {
      append(2);
    } else if (const size_t length = length_of_literal(); length > 0) {
      rest_.remove_prefix(1);
      append(length - 2);
      rest_.remove_prefix(1);
    } else if (!word.empty()) {
      piece_.placeholder = word;
      piece_.quotes = quotes_;
      pieces_.push_back(std::exchange(piece_, {}));
      rest_.remove_prefix(word.size() + 2);
    } else {
      follow_quote(rest_.front());
      append(1);
    }
  }

  void append(size_t length) {
    piece_.text += rest_.substr(0, length);
    rest_.remove_prefix(length);
  }

  // An escaped character, or the begin of a variable.
  bool is_pair_of_the_shell() const {
    if (rest_.size() < 2) return false;
    return (rest_.front() == '\\' && quotes_ != Quotes::kSingle) || rest_.starts_with("${");
  }

  // Of "{{word}}".
  size_t length_of_literal() const {
    const std::string_view inner = rest_.substr(1);
    const std::string_view word = word_in_braces(inner);
    const bool is_literal =
        rest_.starts_with('{') && !word.empty() && inner.substr(word.size() + 2).starts_with('}');
    return is_literal ? word.size() + 4 : 0;
  }

  void follow_quote(char c) {
    const Quotes kind = c == '\'' ? Quotes::kSingle : c == '"' ? Quotes::kDouble : Quotes::kNone;
    if (kind == Quotes::kNone) return;
    if (quotes_ == Quotes::kNone) {
      quotes_ = kind;
    } else if (quotes_ == kind) {
      quotes_ = Quotes::kNone;
    }
  }

  std::string_view rest_;
  Quotes quotes_ = Quotes::kNone;
  Piece piece_;
  std::vector<Piece> pieces_;
};

CommandTemplate::CommandTemplate(const std::string& text,
                                 const std::vector<std::string>& placeholders)
    : pieces_(Parser(text).parse()) {
  for (const Piece& piece : pieces_) {
    const std::string& word = piece.placeholder;
    if (word.empty() || std::ranges::find(placeholders, word) != placeholders.end()) continue;
    throw Error(
        fmt::format("the command has {{{0}}}, which is none of {1}{2} ({{{{{0}}}}} is the "
                    "text {{{0}}})",
                    word, list_text(placeholders), suggest(word, placeholders)));
  }
  for (const std::string& placeholder : placeholders) {
    if (std::ranges::find(pieces_, placeholder, &Piece::placeholder) != pieces_.end()) continue;
    throw Error(fmt::format("the command '{}' has no {{{}}}: it needs {}", printable(text),
                            placeholder, list_text(placeholders)));
  }
}

std::string CommandTemplate::quoted(const std::string& path, Quotes quotes) {
  constexpr std::string_view kSpecialInDoubleQuotes = "\\\"$`";
  std::string text;
  for (const char c : path) {
    if (quotes == Quotes::kDouble) {
      if (kSpecialInDoubleQuotes.find(c) != std::string_view::npos) text += '\\';
      text += c;
    } else if (c == '\'') {
      // Out of the quotes, and in again.
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return quotes == Quotes::kNone ? "'" + text + "'" : text;
}

std::string CommandTemplate::fill(const std::map<std::string, std::string>& paths) const {
  std::string line;
  for (const Piece& piece : pieces_) {
    line += piece.text;
    if (!piece.placeholder.empty()) line += quoted(paths.at(piece.placeholder), piece.quotes);
  }
  return line;
}

}  // namespace torch_ir
