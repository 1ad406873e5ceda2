#include "torch_ir/exporter/pt2/srepr_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

constexpr size_t kMaxLength = 20'000;
constexpr int kMaxDepth = 100;

// The assumptions of sympy, and the precision of its floats.
constexpr std::string_view kKeywords[] = {
    "algebraic",   "antihermitian", "commutative",   "complex",  "composite",  "dps",
    "even",        "evaluate",      "extended_real", "finite",   "hermitian",  "imaginary",
    "infinite",    "integer",       "irrational",    "negative", "noninteger", "nonnegative",
    "nonpositive", "nonzero",       "odd",           "positive", "precision",  "prime",
    "rational",    "real",          "zero",
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

class SreprParser {
 public:
  explicit SreprParser(std::string_view text) : text_(text) {}

  SreprNode parse() {
    if (text_.size() > kMaxLength) fail(fmt::format("is longer than {} characters", kMaxLength));
    SreprNode root = parse_value(1);
    if (position_ < text_.size()) fail_here();
    return root;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ExportError(fmt::format("the expression '{}' {}", printable(text_.substr(0, 80)), what));
  }

  [[noreturn]] void fail_here() const {
    fail(fmt::format("is not understood at character {}", position_ + 1));
  }

  char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  bool accept(char c) {
    if (peek() != c) return false;
    ++position_;
    return true;
  }

  void skip_spaces() {
    while (accept(' ')) {
    }
  }

  std::string take_while(bool (*belongs)(char)) {
    const size_t begin = position_;
    while (position_ < text_.size() && belongs(text_[position_])) ++position_;
    return std::string(text_.substr(begin, position_ - begin));
  }

  SreprNode parse_value(int depth) {
    if (depth > kMaxDepth) fail(fmt::format("is nested deeper than {} levels", kMaxDepth));
    if (is_name_start(peek())) return parse_name(depth);
    if (peek() == '\'' || peek() == '"') return parse_string();
    return parse_number();
  }

  SreprNode parse_number() {
    const std::string sign = accept('-') ? "-" : "";
    const std::string digits = take_while(is_digit);
    if (digits.empty()) fail_here();
    return {SreprNode::Kind::kNumber, sign + digits};
  }

  SreprNode parse_string() {
    const char quote = text_[position_++];
    const size_t end = text_.find(quote, position_);
    if (end == std::string_view::npos) fail_here();
    std::string content(text_.substr(position_, end - position_));
    position_ = end + 1;
    return {SreprNode::Kind::kString, std::move(content)};
  }

  SreprNode parse_name(int depth) {
    std::string name = take_while(is_name_part);
    if (!accept('(')) return {SreprNode::Kind::kName, std::move(name)};
    SreprNode call{SreprNode::Kind::kCall, std::move(name)};
    if (accept(')')) return call;
    do {
      skip_spaces();
      if (auto argument = parse_argument(depth)) call.arguments.push_back(std::move(*argument));
    } while (accept(','));
    if (!accept(')')) fail_here();
    return call;
  }

  // Nothing for one that is given by name: what a symbol is assumed to be, or how precise a float
  // is.
  std::optional<SreprNode> parse_argument(int depth) {
    SreprNode value = parse_value(depth + 1);
    if (value.kind != SreprNode::Kind::kName || !accept('=')) return value;
    if (std::ranges::find(kKeywords, value.text) == std::end(kKeywords)) {
      fail(fmt::format("has the unknown argument '{}'", printable(value.text)));
    }
    parse_value(depth + 1);
    return std::nullopt;
  }

  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace

SreprNode parse_srepr(std::string_view text) { return SreprParser(text).parse(); }

}  // namespace torch_ir
