#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "torch_ir/base/characters.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/archive_values.h"

// Archives store a size as sympy's `srepr`, "Add(Mul(Integer(2), Symbol('s0', integer=True)),
// Integer(1))", which Python evaluates. This file parses a small grammar and evaluates nothing.
namespace torch_ir {
namespace {

// The assumptions of sympy, and the precision of its floats.
constexpr std::string_view kKeywords[] = {
    "algebraic",   "antihermitian", "commutative",   "complex",  "composite",  "dps",
    "even",        "evaluate",      "extended_real", "finite",   "hermitian",  "imaginary",
    "infinite",    "integer",       "irrational",    "negative", "noninteger", "nonnegative",
    "nonpositive", "nonzero",       "odd",           "positive", "precision",  "prime",
    "rational",    "real",          "zero",
};

// A part of the text: a number, "-12"; a name, "oo"; a string, 's0', without its quotes; or a call.
struct Part {
  enum class Kind { kNumber, kName, kString, kCall };

  Kind kind;
  std::string text;
  // Omits named ones ("integer=True"): assumptions about a symbol, and the precision of a float.
  std::vector<Part> arguments = {};
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Part parse() {
    if (text_.size() > kMaxSerializedExpressionLength)
      fail(fmt::format("is longer than {} characters", kMaxSerializedExpressionLength));
    Part root = parse_part(1);
    if (position_ < text_.size()) fail_here();
    return root;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ExportError(fmt::format("the expression '{}' {}", printable(text_.substr(0, 80)), what));
  }

  [[noreturn]] void fail_here() const {
    fail(fmt::format("has a syntax error at character {}", position_ + 1));
  }

  char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  bool accept(char c) {
    if (peek() != c) return false;
    ++position_;
    return true;
  }

  std::string take_while(bool (*belongs)(char)) {
    const size_t begin = position_;
    while (position_ < text_.size() && belongs(text_[position_])) ++position_;
    return std::string(text_.substr(begin, position_ - begin));
  }

  Part parse_part(int depth) {
    if (depth > kMaxExpressionDepth)
      fail(fmt::format("is nested deeper than {} levels", kMaxExpressionDepth));
    if (is_name_start(peek())) return parse_name(depth);
    if (peek() == '\'' || peek() == '"') return parse_string();
    const std::string sign = accept('-') ? "-" : "";
    const std::string digits = take_while(is_digit);
    if (digits.empty()) fail_here();
    return {Part::Kind::kNumber, sign + digits};
  }

  Part parse_string() {
    const char quote = text_[position_++];
    const size_t begin = position_;
    const size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) fail_here();
    position_ = end + 1;
    return {Part::Kind::kString, std::string(text_.substr(begin, end - begin))};
  }

  Part parse_name(int depth) {
    Part part{Part::Kind::kName, take_while(is_name_part)};
    if (!accept('(')) return part;
    part.kind = Part::Kind::kCall;
    if (accept(')')) return part;
    do {
      while (accept(' ')) {
      }
      Part argument = parse_part(depth + 1);
      if (argument.kind != Part::Kind::kName || !accept('=')) {
        part.arguments.push_back(std::move(argument));
        continue;
      }
      if (std::ranges::find(kKeywords, argument.text) == std::end(kKeywords)) {
        fail(fmt::format("has the unknown argument '{}'", printable(argument.text)));
      }
      parse_part(depth + 1);
    } while (accept(','));
    if (!accept(')')) fail_here();
    return part;
  }

  std::string_view text_;
  size_t position_ = 0;
};

// Functions of sympy, and of torch/utils/_sympy/functions.py; each between spaces.
constexpr std::string_view kFunctions =
    " Abs And BitwiseFn_bitwise_and BitwiseFn_bitwise_or BitwiseFn_bitwise_xor CeilDiv"
    " CeilToInt CleanDiv Equality ExprCondPair FloatPow FloatTrueDiv FloorToInt"
    " GreaterThan ITE Identity IntTrueDiv IsNonOverlappingAndDenseIndicator LShift"
    " LessThan Max Min Mod ModularIndexing Not Or Piecewise PowByNatural PythonMod RShift"
    " RoundDecimal RoundToInt StrictGreaterThan StrictLessThan ToFloat TruncToFloat"
    " TruncToInt Unequality Where Xor ceiling exp floor log sign ";

constexpr std::string_view kConstants[] = {"true", "false", "oo", "int_oo"};

enum class Binding { kSum, kProduct, kSign, kPower, kAtom };

struct Term {
  std::string text;
  Binding binding = Binding::kAtom;
  // The parts of a quotient, which a product writes separately.
  std::string dividend = {};
  std::string divisor = {};

  // Adds parentheses if the text binds less tightly than `needed`.
  std::string within(Binding needed) const { return binding >= needed ? text : "(" + text + ")"; }
};

std::string refusal(const char* what, const std::string& text) {
  return fmt::format("unsupported {} '{}' in an expression", what, printable(text));
}

Term write(const Part& part);

const std::string& only_text(const Part& call, Part::Kind kind) {
  if (call.arguments.size() == 1 && call.arguments[0].kind == kind) return call.arguments[0].text;
  throw ExportError(refusal("call", call.text));
}

Term write_number(const std::string& digits) {
  return {digits, digits.starts_with('-') ? Binding::kSign : Binding::kAtom};
}

Term write_integer(const Part& call) { return write_number(only_text(call, Part::Kind::kNumber)); }

Term write_symbol(const Part& call) {
  const std::string& name = only_text(call, Part::Kind::kString);
  const bool is_name =
      !name.empty() && is_name_start(name[0]) && std::ranges::all_of(name, is_name_part);
  return is_name ? Term{name} : throw ExportError(refusal("symbol", name));
}

// A double is an integer times a power of two; it is written so if both parts fit.
Term write_float(const Part& call) {
  const std::string& digits = only_text(call, Part::Kind::kString);
  char* end = nullptr;
  double value = std::strtod(digits.c_str(), &end);
  const bool is_number = !digits.empty() && *end == '\0' && std::isfinite(value);
  constexpr int kMaxShift = 62;
  int shift = 0;
  for (; is_number && value != std::floor(value) && shift < kMaxShift; ++shift) value *= 2;
  if (!is_number || value != std::floor(value) || std::abs(value) >= 0x1p62) {
    throw ExportError(refusal("float", digits));
  }
  const std::string numerator = std::to_string(static_cast<int64_t>(value));
  if (shift == 0) return write_number(numerator);
  return {fmt::format("{}/{}", numerator, int64_t{1} << shift), Binding::kProduct};
}

Term write_binary(const Part& call, Binding left, const char* op, Binding result) {
  if (call.arguments.size() != 2) throw ExportError(refusal("call", call.text));
  const Term first = write(call.arguments[0]);
  const std::string second = write(call.arguments[1]).within(Binding::kAtom);
  return {first.within(left) + op + second, result, first.within(Binding::kSign), second};
}

Term write_rational(const Part& call) {
  return write_binary(call, Binding::kProduct, "/", Binding::kProduct);
}

Term write_floor_division(const Part& call) {
  const Term term = write_binary(call, Binding::kAtom, "//", Binding::kProduct);
  return {term.text, term.binding};
}

Term write_power(const Part& call) {
  const Term term = write_binary(call, Binding::kAtom, "**", Binding::kPower);
  if (term.divisor != "(-1)") return {term.text, term.binding};
  const std::string divisor = write(call.arguments[0]).within(Binding::kAtom);
  return {"1/" + divisor, Binding::kProduct, "1", divisor};
}

Term write_sum(const Part& call) {
  std::string text;
  for (const Part& argument : call.arguments) {
    const std::string term = write(argument).within(Binding::kProduct);
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

// Factors before divisors: "s0*(s0 + 1)/2". A leading -1 is a sign.
Term write_product(const Part& call) {
  std::vector<Term> terms;
  for (const Part& argument : call.arguments) terms.push_back(write(argument));
  const bool is_negative = terms.size() > 1 && terms[0].text == "-1";
  if (is_negative) terms.erase(terms.begin());
  std::vector<std::string> factors;
  std::string divisors;
  for (const Term& term : terms) {
    if (term.divisor.empty()) {
      // Only the first factor may have a sign.
      factors.push_back(term.within(factors.empty() ? Binding::kSign : Binding::kPower));
      continue;
    }
    if (term.dividend != "1") factors.push_back(term.dividend);
    divisors += "/" + term.divisor;
  }
  if (factors.empty()) factors.emplace_back("1");
  return {fmt::format("{}{}{}", is_negative ? "-" : "", fmt::join(factors, "*"), divisors),
          Binding::kProduct};
}

Term write_function(const Part& call) {
  const bool is_known = kFunctions.find(" " + call.text + " ") != std::string_view::npos ||
                        call.text.starts_with("OpaqueUnaryFn_");
  if (!is_known) throw ExportError(kNotSupported, refusal("function", call.text));
  std::vector<std::string> arguments;
  for (const Part& argument : call.arguments) arguments.push_back(write(argument).text);
  return {fmt::format("{}({})", call.text, fmt::join(arguments, ", "))};
}

Term write(const Part& part) {
  static const std::unordered_map<std::string_view, Term (*)(const Part&)> kWriters = {
      {"Integer", write_integer},   {"Symbol", write_symbol}, {"Dummy", write_symbol},
      {"Rational", write_rational}, {"Float", write_float},   {"Add", write_sum},
      {"Mul", write_product},       {"Pow", write_power},     {"FloorDiv", write_floor_division},
  };
  switch (part.kind) {
    case Part::Kind::kNumber:
      return write_number(part.text);
    case Part::Kind::kString:
      throw ExportError(refusal("string", part.text));
    case Part::Kind::kName:
      if (std::ranges::find(kConstants, part.text) != std::end(kConstants)) return {part.text};
      throw ExportError(refusal("name", part.text));
    case Part::Kind::kCall:
      break;
  }
  const auto found = kWriters.find(part.text);
  return found == kWriters.end() ? write_function(part) : found->second(part);
}

}  // namespace

std::string infix_of_srepr(std::string_view text) {
  const Part root = Parser(text).parse();
  if (root.kind == Part::Kind::kName) throw ExportError(refusal("name", root.text));
  return write(root).text;
}

}  // namespace torch_ir
