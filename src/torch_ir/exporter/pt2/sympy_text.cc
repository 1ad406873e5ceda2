#include "torch_ir/exporter/pt2/sympy_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// --- The text as a tree ---

struct SreprNode {
  enum class Kind {
    kCall,    // NAME(arguments)
    kName,    // "oo", "true"
    kNumber,  // an integer, "-12"
    kString,  // 's0', without its quotes
  };

  Kind kind;
  std::string text;
  // Of a call; arguments given by name ("integer=True") are left out.
  std::vector<SreprNode> arguments = {};

  bool is_call(std::string_view name) const { return kind == Kind::kCall && text == name; }
};

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
    if (text_.size() > kMaxSerializedExpressionLength)
      fail(fmt::format("is longer than {} characters", kMaxSerializedExpressionLength));
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
    if (depth > kMaxExpressionDepth)
      fail(fmt::format("is nested deeper than {} levels", kMaxExpressionDepth));
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

// --- The tree as another text ---

// How tightly the outermost operator of a text binds.
enum class Binding { kSum, kProduct, kSign, kPower, kAtom };

struct Text {
  std::string text;
  Binding binding = Binding::kAtom;
};

Text render(const SreprNode& node);

[[noreturn]] void refuse(const SreprNode& node, const char* what) {
  throw ExportError(fmt::format("an expression has {} '{}', which is not understood", what,
                                printable(node.text)));
}

// The text of `node` as an operand of an operator that needs at least `binding`.
std::string operand(const SreprNode& node, Binding binding) {
  Text rendered = render(node);
  if (rendered.binding >= binding) return std::move(rendered.text);
  return "(" + rendered.text + ")";
}

Text render_number(const std::string& digits) {
  return {digits, digits.starts_with('-') ? Binding::kSign : Binding::kAtom};
}

// The only argument of Integer, Symbol and Float.
const std::string& leaf_text(const SreprNode& node, SreprNode::Kind kind) {
  if (node.arguments.size() != 1 || node.arguments[0].kind != kind) refuse(node, "the call");
  return node.arguments[0].text;
}

Text render_symbol(const SreprNode& node) {
  const std::string& name = leaf_text(node, SreprNode::Kind::kString);
  const bool is_name = !name.empty() &&
                       name.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyz"
                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == std::string::npos &&
                       (name[0] < '0' || name[0] > '9');
  if (!is_name) refuse(node.arguments[0], "the symbol");
  return {name};
}

Text render_integer(const SreprNode& node) {
  return render_number(leaf_text(node, SreprNode::Kind::kNumber));
}

Text render_rational(const SreprNode& node) {
  if (node.arguments.size() != 2) refuse(node, "the call");
  return {operand(node.arguments[0], Binding::kProduct) + "/" +
              operand(node.arguments[1], Binding::kAtom),
          Binding::kProduct};
}

// A double is an integer times a power of two; where both parts fit, it is written so.
Text render_float(const SreprNode& node) {
  const std::string& digits = leaf_text(node, SreprNode::Kind::kString);
  char* end = nullptr;
  double value = std::strtod(digits.c_str(), &end);
  if (digits.empty() || *end != '\0' || !std::isfinite(value))
    refuse(node.arguments[0], "the float");
  constexpr int kMaxShift = 62;
  int shift = 0;
  while (value != std::floor(value) && shift < kMaxShift) {
    value *= 2;
    ++shift;
  }
  if (value != std::floor(value) || std::abs(value) >= 0x1p62) {
    refuse(node.arguments[0], "the float");
  }
  const auto numerator = static_cast<int64_t>(value);
  if (shift == 0) return render_number(std::to_string(numerator));
  return {fmt::format("{}/{}", numerator, int64_t{1} << shift), Binding::kProduct};
}

Text render_sum(const SreprNode& node) {
  std::string text;
  for (const SreprNode& argument : node.arguments) {
    const std::string term = operand(argument, Binding::kProduct);
    if (text.empty()) {
      text = term;
    } else if (term.starts_with('-')) {
      text += " - " + term.substr(1);
    } else {
      text += " + " + term;
    }
  }
  return {std::move(text), Binding::kSum};
}

bool is_integer(const SreprNode& node, std::string_view digits) {
  return node.is_call("Integer") && node.arguments.size() == 1 && node.arguments[0].text == digits;
}

bool is_reciprocal(const SreprNode& node) {
  return node.is_call("Pow") && node.arguments.size() == 2 && is_integer(node.arguments[1], "-1");
}

// Factors before divisors: "s0*(s0 + 1)/2". A leading -1 is a sign.
Text render_product(const SreprNode& node) {
  std::vector<std::string> factors;
  std::vector<std::string> divisors;
  std::string sign;
  for (const SreprNode& argument : node.arguments) {
    if (&argument == &node.arguments.front() && is_integer(argument, "-1") &&
        node.arguments.size() > 1) {
      sign = "-";
    } else if (argument.is_call("Rational") && argument.arguments.size() == 2) {
      const std::string numerator = operand(argument.arguments[0], Binding::kSign);
      if (numerator != "1") factors.push_back(numerator);
      divisors.push_back(operand(argument.arguments[1], Binding::kAtom));
    } else if (is_reciprocal(argument)) {
      divisors.push_back(operand(argument.arguments[0], Binding::kAtom));
    } else {
      // A sign is read as part of the first factor only.
      factors.push_back(operand(argument, factors.empty() ? Binding::kSign : Binding::kPower));
    }
  }
  if (factors.empty()) factors.emplace_back("1");
  std::string text = sign + fmt::format("{}", fmt::join(factors, "*"));
  for (const std::string& divisor : divisors) text += "/" + divisor;
  return {std::move(text), Binding::kProduct};
}

Text render_power(const SreprNode& node) {
  if (node.arguments.size() != 2) refuse(node, "the call");
  if (is_reciprocal(node)) {
    return {"1/" + operand(node.arguments[0], Binding::kAtom), Binding::kProduct};
  }
  return {operand(node.arguments[0], Binding::kAtom) + "**" +
              operand(node.arguments[1], Binding::kAtom),
          Binding::kPower};
}

Text render_floor_division(const SreprNode& node) {
  if (node.arguments.size() != 2) refuse(node, "the call");
  return {operand(node.arguments[0], Binding::kAtom) + "//" +
              operand(node.arguments[1], Binding::kAtom),
          Binding::kProduct};
}

// Functions of sympy, and of torch/utils/_sympy/functions.py; each between spaces.
constexpr std::string_view kFunctions =
    " Abs And BitwiseFn_bitwise_and BitwiseFn_bitwise_or BitwiseFn_bitwise_xor CeilDiv"
    " CeilToInt CleanDiv Equality ExprCondPair FloatPow FloatTrueDiv FloorToInt"
    " GreaterThan ITE Identity IntTrueDiv IsNonOverlappingAndDenseIndicator LShift"
    " LessThan Max Min Mod ModularIndexing Not Or Piecewise PowByNatural PythonMod RShift"
    " RoundDecimal RoundToInt StrictGreaterThan StrictLessThan ToFloat TruncToFloat"
    " TruncToInt Unequality Where Xor ceiling exp floor log sign ";

bool is_function(const std::string& name) {
  return kFunctions.find(" " + name + " ") != std::string_view::npos ||
         name.starts_with("OpaqueUnaryFn_");
}

Text render_call(const SreprNode& node) {
  if (!is_function(node.text)) {
    throw ExportError(kNotSupported,
                      fmt::format("an expression has the function '{}', which is not understood",
                                  printable(node.text)));
  }
  std::vector<std::string> arguments;
  for (const SreprNode& argument : node.arguments) arguments.push_back(render(argument).text);
  return {fmt::format("{}({})", node.text, fmt::join(arguments, ", "))};
}

// How the calls are written that do not stay calls.
using Renderer = Text (*)(const SreprNode&);

Renderer find_renderer(const std::string& name) {
  static const std::unordered_map<std::string, Renderer> table = {
      {"Integer", render_integer},   {"Symbol", render_symbol}, {"Dummy", render_symbol},
      {"Rational", render_rational}, {"Float", render_float},   {"Add", render_sum},
      {"Mul", render_product},       {"Pow", render_power},     {"FloorDiv", render_floor_division},
  };
  const auto found = table.find(name);
  return found == table.end() ? render_call : found->second;
}

// Names in an expression that are not symbols.
bool is_constant(const std::string& name) {
  return name == "true" || name == "false" || name == "oo" || name == "int_oo";
}

Text render(const SreprNode& node) {
  switch (node.kind) {
    case SreprNode::Kind::kCall:
      return find_renderer(node.text)(node);
    case SreprNode::Kind::kNumber:
      return render_number(node.text);
    case SreprNode::Kind::kName:
      if (!is_constant(node.text)) refuse(node, "the name");
      return {node.text};
    case SreprNode::Kind::kString:
      break;
  }
  refuse(node, "the string");
}

}  // namespace

std::string infix_of_srepr(std::string_view text) {
  const SreprNode root = SreprParser(text).parse();
  if (root.kind == SreprNode::Kind::kName) refuse(root, "the name");
  return render(root).text;
}

}  // namespace torch_ir
